# SPDX-License-Identifier: GPL-2.0-or-later
"""A client that reads the controls of a recording while it runs, until it ends."""

import csv
import subprocess
import threading
import time

from guests import Failure

ALLOCATIONS = 'alloc_ip pid ptr size alloc_serial free_serial free_ip type slab new_type'.split()
ACCESSES = 'alloc_index access_ip pid writes reads'.split()
LEAST = 3               # rounds


class Over(Exception):
    """The recording ended, and what was asked for is not all there."""


class Asking(threading.Thread):
    """Queries round after round; errors in answers are reported by close()."""

    def __init__(self, atwalk, socket, folder):
        super().__init__()
        self.atwalk, self.socket, self.folder = atwalk, socket, folder
        self.wrong, self.rounds, self.freed, self.stop = None, 0, 0, False

    def ask(self, *words):
        """The file that the answer is in."""
        path = self.folder / words[0]
        with open(path, 'w', encoding='utf-8') as out:
            done = subprocess.run([str(self.atwalk), 'kmap', 'ctl', str(self.socket), *words],
                                  check=False, text=True, stdout=out, stderr=subprocess.PIPE)
        if done.returncode:
            raise Over(done.stderr)
        return path

    def kmap(self):
        """What was freed, of a KMAP that has as many lines as it says."""
        freed, objects, accesses, line = set(), 0, 0, ''
        with open(self.ask('kmap'), encoding='utf-8', errors='replace') as lines:
            for line in lines:
                if line[0] == ' ':
                    accesses += 1
                elif line[0] != '#':
                    objects += 1
                    fields = line.split(',', 6)
                    if fields[5] != '0':
                        freed.add((fields[2], fields[4]))
        if line != f'# atwalk-kmap end objects {objects} accesses {accesses} lost 0\n':
            raise Failure(f'{objects} objects and {accesses} accesses, and the last line: {line}')
        return freed

    def rows(self, name, head):
        """Rows, each with a field for each of the head's."""
        with open(self.ask(name), encoding='utf-8', errors='replace', newline='') as lines:
            table = csv.reader(lines)
            if next(table) != head:
                raise Failure(f'{name}: another head')
            for row in table:
                if len(row) != len(head):
                    raise Failure(f'{name}: {row}')
                yield row

    def tables(self):
        """An object is one row, and accesses are of one that there is."""
        serials = [int(row[4]) for row in self.rows('allocations', ALLOCATIONS)]
        known = set(serials)
        if len(serials) - serials.count(0) != len(known - {0}):
            raise Failure('an object is several rows')
        last = max(known)
        for row in self.rows('accesses', ACCESSES):
            # What is later was allocated since.
            if int(row[0]) not in known and int(row[0]) <= last:
                raise Failure(f'{row}: of no object')

    def round(self):
        """What was freed before a clear is gone behind it."""
        before = self.kmap()
        self.ask('clear_object_list', '1')
        after = self.kmap()
        if before & after:
            raise Failure(f'{len(before & after)} objects came back, of {len(before)}')
        self.freed += len(before)
        self.tables()
        self.ask('stats')

    def run(self):
        try:
            while not self.stop and not self.socket.exists():
                time.sleep(0.1)
            while not self.stop:
                try:
                    variables = self.ask('global_table').read_text(errors='replace')
                    break
                except Over:
                    time.sleep(0.1)
            else:
                return
            if ' init_task (null)\n' not in variables:
                raise Failure('global_table: no init_task')
            while not self.stop:
                self.round()
                self.rounds += 1
        except Over:
            pass
        except Failure as why:
            self.wrong = why

    def close(self):
        """The recording has ended."""
        self.stop = True
        self.join()
        if self.wrong:
            raise self.wrong
        if self.rounds < LEAST or not self.freed:
            raise Failure(f'only {self.rounds} rounds of questions, of {self.freed} freed objects')
        return self.rounds
