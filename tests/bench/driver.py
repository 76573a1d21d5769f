"""Runs a program once for each of N values of a parameter, as drivers do that know a simulator only as a process and its result file: a process, a file and its
reading for each run. usage: driver.py PROGRAM FOLDER N"""
import csv
import subprocess
import sys

program, folder, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
highest = []
for run in range(runs):
    path = folder + "/driven.csv"
    subprocess.run([program, "--set", "K21=%r" % (38000 + 4000 * run / runs), "--stop", "2", "--quiet", "-o", path], check=True)
    with open(path, newline="") as file:
        rows = csv.reader(file)
        column = next(rows).index("z2")
        highest.append(max(float(row[column]) for row in rows))
print(min(highest), max(highest))
