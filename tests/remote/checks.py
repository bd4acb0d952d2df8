"""What every real server must stand, whoever made it. Standard library only."""

import recorder
import servers

METHODS = (
    ("sc", []),
    ("deepconf", ["--warmup", "4"]),
    ("hyper", []),
    ("hyper", ["--grant", "8"]),
    ("hyper", ["--max-streams", "4"]),
)


def check_probe(hyper, url, wanted):
    """The probe finds what `wanted` says."""
    probe = servers.hyper_probe(hyper, url)
    fine = True
    for name, value in probe["findings"].items():
        differs = name in wanted and value != wanted[name]
        fine = fine and not differs
        print(f"  {name}: {value}" + (f"   WRONG, should be {wanted[name]}" if differs else ""))
    for words in probe["workarounds"]:
        print(f"  worked around: {words}")
    return fine


def check_run(run, width):
    """What is wrong with a run, in words; nothing where it is as it should be."""
    faults = []
    paths = run["paths"]
    if run["answer"] is None:
        faults.append("no answer")
    if run["partial"]:
        faults.append(f"partial: {run['partial_reason']}")
    if len(paths) < width:
        faults.append(f"{len(paths)} paths of {width}")
    for path in paths:
        if path["status"] == "failed":
            faults.append(f"path {path['id']} failed: {path['reason']}")
        if path["status"] == "finished" and "</think>" not in path["text"]:
            faults.append(f"path {path['id']} lost its special tokens: {path['text']!r}")
        if "\ufffd" in path["text"]:
            faults.append(f"path {path['id']} lost a character")
        parent = [other for other in paths if other["id"] == path["parent"]]
        if parent and path["fork_position"] > 0:
            # What a child inherits are whole tokens of its parent: at least as many characters.
            shared = len(common_prefix(path["text"], parent[0]["text"]))
            if shared < path["fork_position"]:
                faults.append(f"path {path['id']} does not go on from its parent")
    return faults


def common_prefix(one, other):
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return one[:length]


def check_prefill(hyper, root, question):
    """Where no endpoint renders chats, lanes are chats that the server continues: the same text."""
    greedy = ["--method", "sc", "--width", "1", "--temperature", "0"]
    text = {}
    with recorder.recording(root, ("/apply-template", "/tokenize", "/props")) as proxy:
        way = servers.hyper_probe(hyper, proxy.root + "/v1")["findings"]["chat template"]
        for name, url, more in (("endpoint", root, []), ("prefill", proxy.root, []),
                                ("prefill, 8 tokens a request", proxy.root, ["--grant", "8"])):
            run = servers.hyper_run(hyper, question, ["--engine", url + "/v1", *greedy, *more])
            text[name] = run["paths"][0]["text"]
    fine = way.startswith("assistant prefill") and len(set(text.values())) == 1
    print(f"  chats without a template endpoint: {way}; " +
          ("the same greedy text" if fine else f"WRONG: {text}"))
    return fine


def check_methods(hyper, url, questions, width=16):
    """Each method on each question; answers need not be right, but runs must be whole."""
    fine = True
    for method, more in METHODS:
        for seed, question in enumerate(questions, 1):
            run = servers.hyper_run(
                hyper, question,
                ["--engine", url, "--method", method, "--width", str(width), *more], seed)
            faults = check_run(run, 1 if method == "deepconf" else width)
            ledger = run["ledger"]
            statuses = [path["status"] for path in run["paths"]]
            counts = ", ".join(f"{statuses.count(word)} {word}" for word in sorted(set(statuses)))
            actions = [entry["action"] for entry in run["decisions"]]
            print(f"  {method} {' '.join(more)}: answer {run['answer']}; {counts};"
                  f" {ledger['generated']} tokens, {ledger['recomputed']} again;"
                  f" {len(actions)} decisions, {actions.count('branch')} branch,"
                  f" {actions.count('multi_token')} multi_token")
            for words in [*faults, *run["warnings"]]:
                print(f"    {words}")
            fine = fine and not faults
    return fine
