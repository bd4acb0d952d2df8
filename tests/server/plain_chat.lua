-- A plain chat request with another question each, and no status but 200 (tests/server_tools_check.sh).
local number = 0
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init()
  bad = 0
end

function request()
  number = number + 1
  local body = '{"model": "scripted:plain", "max_tokens": 40, "messages": [{"role": "user", ' ..
      '"content": "question ' .. number .. '"}]}'
  return wrk.format('POST', '/v1/chat/completions', {['Content-Type'] = 'application/json'}, body)
end

function response(status, headers, body)
  if status ~= 200 or not body:find('"finish_reason"') then
    bad = bad + 1
  end
end

function done(summary, latency, requests)
  local bad_replies = 0
  for _, thread in ipairs(threads) do
    bad_replies = bad_replies + thread:get('bad')
  end
  local errors = summary.errors
  io.write(string.format('requests %d, not as they should be %d, socket errors %d\n', summary.requests,
      bad_replies, errors.connect + errors.read + errors.write + errors.timeout))
end
