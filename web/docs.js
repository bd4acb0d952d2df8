// The description of the API (/openapi.json) as a page: requests, their fields, and the schemas.
'use strict';

const METHODS = ['get', 'post', 'delete'];
const nameOf = (ref) => ref.split('/').pop();

// The part of the description that a reference names.
function resolve(whole, part) {
  return part.$ref ? part.$ref.slice(2).split('/').reduce((at, name) => at[name], whole) : part;
}

function bounds(schema) {
  const {minimum, maximum, exclusiveMinimum, default: otherwise} = schema;
  return [minimum !== undefined && ` from ${minimum}`,
          exclusiveMinimum !== undefined && ` above ${exclusiveMinimum}`,
          maximum !== undefined && ` to ${maximum}`,
          otherwise !== undefined && `, default ${JSON.stringify(otherwise)}`].filter(Boolean).join('');
}

// What a schema takes, in words; other schemas are links. An array of texts and elements.
function typeOf(schema) {
  if (schema === true || schema === undefined) return ['anything'];
  if (schema.$ref) return [make('a', nameOf(schema.$ref), {href: `#${nameOf(schema.$ref)}`})];
  const {data} = schema.properties || {};
  if (data && data.contentSchema) return ['events of ', ...typeOf(data.contentSchema)];
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(', ')];
  const choice = schema.anyOf || schema.oneOf || schema.allOf;
  if (choice) return choice.flatMap((one, i) => [i ? (schema.allOf ? ' and ' : ' or ') : '', ...typeOf(one)]);
  const types = [].concat(schema.type || 'anything').join(' or ');
  return [types + bounds(schema), ...(schema.items ? [' of ', ...typeOf(schema.items)] : [])];
}

function row(name, required, schema, about) {
  return tableRow([make('code', name), around('span', typeOf(schema)), required ? 'required' : '', about || '']);
}

// The table of an object's members, and of those of the objects inside it.
function membersOf(schema, prefix = '') {
  return Object.entries(schema.properties || {}).flatMap(([name, member]) => {
    const inside = member.properties ? member : (member.items || {}).properties ? member.items : null;
    const listed = row(prefix + name, (schema.required || []).includes(name), member, member.description);
    return [listed, ...(inside ? membersOf(inside, `${prefix}${name}.`) : [])];
  });
}

function table(rows) {
  const head = tableRow(['name', 'value', '', ''], 'th');
  return rows.length === 0 ? [] : [around('div', [around('table', [head, ...rows])], {class: 'scroll'})];
}

function contentOf(whole, part) {
  return Object.entries(resolve(whole, part).content || {}).flatMap(([type, {schema}], i) =>
      [i ? '; ' : '', type, ...(schema ? [': ', ...typeOf(schema)] : [])]);
}

function drawOperation(whole, path, method, operation, shared) {
  const parameters = [...shared, ...(operation.parameters || [])].map((one) => resolve(whole, one));
  const body = operation.requestBody;
  const open = operation.security && operation.security.length === 0;
  return around('section', [
    make('h2', `${method.toUpperCase()} ${path}`),
    make('p', `${operation.summary}.${open ? ' Needs no key.' : ''}`),
    ...table(parameters.map((one) => row(one.name, one.required, one.schema, one.description))),
    ...(body ? [around('p', ['Body: ', ...contentOf(whole, body)])] : []),
    around('ul', Object.entries(operation.responses).map(([status, reply]) =>
        around('li', [`${status}: ${resolve(whole, reply).description}. `, ...contentOf(whole, reply)]))),
  ], {class: 'panel', id: operation.operationId});
}

function drawSchema(name, schema) {
  return around('section', [make('h2', name), make('p', schema.description || ''),
                            ...(schema.properties ? table(membersOf(schema)) : [around('p', typeOf(schema))])],
                {class: 'panel', id: name});
}

function draw(whole) {
  const operations = Object.entries(whole.paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) =>
          [path, method, item[method], item.parameters || []]));
  fill($('index'), operations.map(([path, method, operation]) => around('li', [
    make('a', `${method.toUpperCase()} ${path}`, {href: `#${operation.operationId}`}), ` ${operation.summary}`])));
  fill($('operations'), operations.map((operation) => drawOperation(whole, ...operation)));
  fill($('schemas'), Object.entries(whole.components.schemas).map((entry) => drawSchema(...entry)));
  $('state').textContent = whole.info.description || whole.info.title;
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

async function load() {
  const key = $('key').value;
  const response = await fetch('/openapi.json', {headers: key ? {Authorization: `Bearer ${key}`} : {}}).catch(() => null);
  if (response && response.ok) return draw(await response.json());
  $('state').textContent = !response ? 'The server does not answer.' : response.status === 401 ?
      'This server asks for a key.' : `The description cannot be read (HTTP ${response.status}).`;
}

$('key').value = sessionStorage.getItem('key') || '';
$('key').addEventListener('change', () => { sessionStorage.setItem('key', $('key').value); load(); });
load();
