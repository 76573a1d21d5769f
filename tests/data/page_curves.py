"""What a page of a report holds of a run: page_curves.py PAGE CSV, the result of the same run.

Decompresses the page with Python's own lzma, reads the curves, and prints how many there are, the largest distance of a line from a row in parts of the
variable's range over what the page says it may be, and the largest relative difference at points of lines that are as fine as they can be, and of coarser ones.
"""
import base64
import csv
import html.parser
import itertools
import json
import lzma
import re
import sys

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


class Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts, self.open = [], False

    def handle_starttag(self, tag, attributes):
        self.open = tag == "script"
        if self.open:
            self.scripts.append([dict(attributes), ""])

    def handle_endtag(self, tag):
        self.open = False

    def handle_data(self, data):
        if self.open:
            self.scripts[-1][1] += data


def data_of(page, wanted):
    """The text of the script element of that name, compressed or not."""
    elements = Elements()
    elements.feed(page)
    whole = [text for attributes, text in elements.scripts if attributes.get("id") == "folded"]
    texts = lzma.decompress(base64.b64decode(whole[0]), format=lzma.FORMAT_ALONE) if whole else b""
    at, found = 0, None
    for attributes, text in elements.scripts:
        if "data-folded" in attributes:
            length = int(attributes["data-folded"])
            text = texts[at : at + length].decode()
            at += length
        if attributes.get("id") == wanted:
            found = text
    assert at == len(texts)
    return found


def rows_of(column):
    rows, row = [], 0
    for long, short in re.findall(r"\((\d+)\)|([0-9a-z])", column["i"]):
        row += int(long) if long else int(short, 36)
        rows.append(row)
    return rows


def values_of(column, rows):
    if "s" not in column:
        return column["v"]
    values, last, before = [], 0, 0
    tokens = re.findall(r"\(([^)]*)\)|([g-z0-9+/]*[A-Za-f])", column["v"])
    assert len(tokens) == len(rows)
    unit = column.get("f", 1) * 10.0 ** column["s"]
    for k, (inner, digits) in enumerate(tokens):
        line = last
        if k > 1:
            line += floor((last - before) * (rows[k] - rows[k - 1]) / (rows[k - 1] - rows[k - 2]) + 0.5)
        before = last
        if digits:
            number = sum(LETTERS.index(d) % 32 * 32**n for n, d in enumerate(digits))
            value = line + (-(number // 2) if number % 2 else number // 2)
        elif inner:
            value = float(inner)
        else:
            values.append(None)
            continue
        last = floor(value + 0.5)
        values.append(value * unit)
    return values


def floor(x):
    return int(x // 1)


def places_of(shown, time, columns, table, names):
    """Where the page's rows are in the table. Of several at one instant the page may have some: those that agree with its curves."""
    curves = [(rows, dict(zip(rows, values_of(c, rows))), names[c["n"]]) for c in columns for rows in [rows_of(c)]]
    places, at, k = [], 0, 0
    while k < len(shown):
        same = [j for j in range(k, min(k + 20, len(shown))) if shown[j] - shown[k] <= 1e-9]
        while shown[k] - time[at] > 1e-9:
            at += 1
        group = [j for j in range(at, min(at + 20, len(time))) if abs(time[j] - shown[k]) <= 1e-9]

        def wrong(chosen):
            return sum(abs(values[row] - table[j][n]) for _, values, n in curves for row, j in zip(same, chosen) if values.get(row) is not None)

        ways = list(itertools.combinations(group, len(same)))
        places += ways[0] if len(ways) == 1 else min(reversed(ways), key=wrong)
        at, k = places[-1] + 1, k + len(same)
    return places


def main(page, result):
    data = json.loads(data_of(open(page).read(), "trajectories"))
    table = list(csv.reader(open(result)))
    names = {name.split(" ")[0]: k for k, name in enumerate(table[0])}
    table = [[float(x) for x in row] for row in table[1:]]
    assert data["from"] == len(table)
    time = [row[0] for row in table]
    columns = data["columns"]
    places = places_of(data["time"], time, [c for c in columns if "i" in c], table, names)
    worst, relative, curves = 0, [0, 0], 0
    for column in columns:
        own = column
        if "a" in column:
            own = columns[column["a"]]
        sign = column.get("m", 1)
        rows = rows_of(own)
        values = [v if v is None else sign * v for v in values_of(own, rows)]
        told = [row[names[column["n"]]] for row in table]
        extent = max(told) - min(told)
        curves += "a" not in column
        if extent == 0:
            assert all(v == told[0] for v in values) or abs(values[0] - told[0]) <= 1e-6 * abs(told[0]), column["n"]
            continue
        allowed = own.get("e", 2e-4) * extent
        if extent < 1e-9 * abs(told[0]):  # seven digits of what is nearly constant
            allowed = 1e-7 * abs(told[0])
        at = [places[row] for row in rows]
        assert at[0] == 0 and at[-1] == len(table) - 1
        for (i, v), (j, w) in zip(zip(at, values), zip(at[1:], values[1:])):
            for k in range(i, j + 1):
                line = v if k == i else w if k == j else v + (w - v) * (time[k] - time[i]) / (time[j] - time[i])
                worst = max(worst, abs(line - told[k]) / allowed)
        for i, v in zip(at, values):
            if told[i] != 0:
                relative["e" in own] = max(relative["e" in own], abs(v / told[i] - 1))
    print(curves, "%.3f %.4f %.4f" % (worst, *relative))


if __name__ == "__main__":
    main(*sys.argv[1:])
