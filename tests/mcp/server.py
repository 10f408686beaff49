"""A server of the Model Context Protocol on standard input and output, good or hostile as its first
argument says. Standard library only."""

import json
import os
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
# A file whose presence changes what is listed.
SWITCH = sys.argv[2] if len(sys.argv) > 2 else ""


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def tool(name, description="Does what its name says.", **more):
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    }
    return {"name": name, "description": description, "inputSchema": schema, **more}


def listing(cursor):
    """The answer to tools/list."""
    if MODE == "endless":
        at = int(cursor or 0)
        return {"tools": [tool(f"t{at}")], "nextCursor": str(at + 1)}
    if MODE == "loop":
        return {"tools": [tool("again")], "nextCursor": "b" if cursor == "a" else "a"}
    if MODE == "many":
        return {"tools": [tool(f"t{at}") for at in range(3000)]}
    if MODE == "large":
        return {"tools": [tool("large", "x" * 700_000)]}
    if MODE == "giant":
        return {"tools": [tool("giant", "x" * 3_000_000)]}
    if MODE == "malformed":
        return {"tools": [{"description": "no name"}, {"name": 7}, tool("good"), "text", None]}
    if MODE == "listless":
        return {"tools": "none"}
    if MODE == "environment":
        return {"tools": [tool("environment", json.dumps(dict(os.environ)))]}
    if MODE == "pages":
        at = int(cursor or 0)
        page = {"tools": [tool(f"t{at}")]}
        return page if at == 2 else {**page, "nextCursor": str(at + 1)}
    if SWITCH and os.path.exists(SWITCH):
        kind = open(SWITCH).read().strip()
        if kind == "nothing":
            return {"tools": []}
        if kind == "more":
            return {"tools": [tool("echo"), tool("more")]}
    return {"tools": [tool("echo", annotations={"readOnlyHint": True}), tool("slow"), tool("huge")]}


def call(params):
    """The answer to tools/call."""
    name, text = params["name"], params.get("arguments", {}).get("text", "")
    if name == "slow":
        time.sleep(5)
    if name == "huge":
        text = "x" * 5_000_000
    if name == "echo" and text == "die":
        sys.exit(1)
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"said": text}}


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "test", "version": "1"},
            "instructions": "Echoes what it is told.",
        }
    if method == "tools/list":
        return listing(params.get("cursor"))
    if method == "tools/call":
        return call(params)
    if method == "ping":
        return {}
    return None


def main():
    if MODE == "exit":
        sys.stderr.write("cannot log in with s3cret\n")
        sys.exit(3)
    if MODE == "flood":
        sys.stderr.write("x" * 5_000_000)
    if MODE == "garbage":
        sys.stdout.write("Welcome!\n{\n[]\n\x00\xff\n{\"jsonrpc\": \"2.0\"}\n" + "[" * 100_000 + "\n")
    if MODE == "drip":
        while True:
            sys.stdout.write("{")
            sys.stdout.flush()
            time.sleep(0.01)
    for line in sys.stdin:
        if MODE == "deaf":
            continue
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if MODE == "midway" and message["method"] == "tools/list":
            sys.stdout.write('{"jsonrpc": "2.0", "id": ')
            sys.stdout.flush()
            return
        result = answer(message)
        if result is None:
            error = {"code": -32601, "message": "unknown method"}
            send({"jsonrpc": "2.0", "id": message["id"], "error": error})
        else:
            send({"jsonrpc": "2.0", "id": message["id"], "result": result})


main()
