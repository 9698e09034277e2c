# Copyright The ResultSeal Authors
# SPDX-License-Identifier: Apache-2.0

"""Answer requests with the installed ResultSeal reference.

Requests are JSON objects on standard input, one a line; so are the answers on
standard output. The first line written states the versions. A request has the key
"check" (an input against a contract) or "command" (a command line with a file).
"""

import base64
import contextlib
import datetime
import io
import json
import math
import os
import platform
import sys
import tempfile
import traceback

try:
    import resultseal
    import yaml
    from resultseal import canonical, cli, contracts, errors, limits, report, safeio
except ImportError as exc:
    print(json.dumps({"missing": str(exc)}))
    sys.exit()

LIMITS = limits.Limits()


def load(document):
    read = safeio.load_yaml if document["format"] == "yaml" else safeio.load_json
    return read(base64.b64decode(document["text"]), LIMITS)


def check(request):
    """Do as `resultseal check` does, and add the envelope and the hash of the payload."""
    seen = []
    stage = "input"
    try:
        doc = load(request["input"])
        seen.append(doc)
        if not isinstance(doc, dict):
            raise errors.SchemaInvalidError("response document must be an object")
        stage = "contract"
        terms = load(request["contract"])
        seen.append(terms)
        contract = contracts.load_contract_data(terms, LIMITS)
        stage = "now"
        clock = cli._parse_now(request["now"])
        stage = "normalize"
        normalization, evaluation = cli._normalize_and_evaluate(doc, contract, clock)
        seen.append(normalization.payload)
        stage = "record"
        record = cli._stamped_record(evaluation, normalization, contract, request["redact"] or [])
        text = report.render_json(record)
        text.encode()
    except errors.ResultSealError as exc:
        answer = {"error": exc.code, "exit": exc.exit_code, "stage": stage}
    except Exception as exc:
        answer = {"crash": crash(exc), "stage": stage}
    else:
        envelope = normalization.envelope.to_dict()
        envelope["metadata"] = {k: metadata(v) for k, v in envelope["metadata"].items()}
        answer = {
            "exit": 0 if record_sealed(evaluation) else 1,
            "record_json": text,
            "content_hash": normalization.envelope.content_hash,
            "envelope": envelope,
            "payload_hash": payload_hash(normalization.payload),
        }
    answer["surrogates"] = any(surrogates(value) for value in seen)
    return answer


def record_sealed(evaluation):
    return evaluation.decision.value == "sealed"


def payload_hash(payload):
    try:
        return canonical.content_hash(payload)
    except Exception:
        return None


def metadata(value):
    """Return a metadata value as JSON, also one that has no JSON form."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, datetime.date):
        return {"$timestamp": ""}
    if isinstance(value, int) and value.bit_length() > 14_000:
        return {"$integer": ""}
    return value


def crash(exc):
    """Return the first cause of an exception that the reference does not handle."""
    while exc.__context__ is not None:
        exc = exc.__context__
    frame = traceback.extract_tb(exc.__traceback__)[-1]
    module = os.path.splitext(os.path.basename(frame.filename))[0]
    bases = [base.__name__ for base in type(exc).__mro__]
    return {"types": bases, "at": module + "." + frame.name}


def surrogates(value):
    """Report whether a string or a key holds half of a surrogate pair."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            if any("\ud800" <= c <= "\udfff" for c in value):
                return True
        elif isinstance(value, dict):
            stack.extend(value.keys())
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return False


def command(request):
    """Run a command line in which {} stands for a file with the given text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, request["file"])
        with open(path, "wb") as file:
            file.write(base64.b64decode(request["text"]))
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = cli.main([path if word == "{}" else word for word in request["args"]])
        except Exception as exc:
            return {"crash": crash(exc)}
    return {"exit": code, "stdout": out.getvalue().replace(path, "{}"), "stderr": err.getvalue()}


print(json.dumps({
    "version": resultseal.__version__,
    "python": ".".join(platform.python_version_tuple()[:2]),
    "yaml": yaml.__version__,
}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    answer = check(request["check"]) if "check" in request else command(request["command"])
    print(json.dumps(answer), flush=True)
