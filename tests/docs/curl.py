"""As much of curl as the docs use, for machines that have none: -s, -i, -w, -X, -H and -d."""

import sys
from argparse import ArgumentParser
from urllib.error import HTTPError
from urllib.request import Request, urlopen

parser = ArgumentParser()
parser.add_argument("-s", action="store_true")
parser.add_argument("-i", action="store_true")
parser.add_argument("-w", default="")
parser.add_argument("-X")
parser.add_argument("-H", action="append", default=[])
parser.add_argument("-d")
parser.add_argument("url")
asked = parser.parse_args()

headers = dict(header.split(": ", 1) for header in asked.H)
body = None if asked.d is None else asked.d.encode()
request = Request(asked.url, body, headers, method=asked.X)
try:
    answer = urlopen(request, timeout=30)
except HTTPError as error:
    answer = error
with answer:
    if asked.i:
        print(f"HTTP/1.1 {answer.status} {answer.reason}\n{answer.headers}", end="")
    sys.stdout.write(answer.read().decode() + asked.w.replace("\\n", "\n"))
