# SPDX-License-Identifier: GPL-2.0-or-later
"""A stopped guest in the forms in which QEMU saves guests: saved.*."""

import shutil
import subprocess
import time

from guests import Failure

LIMIT = 180
# The disk image that gets a snapshot; its node and file.
NODE = 'saved'


def arguments(folder):
    """For QEMU's command line: a disk image that no device has."""
    if shutil.which('qemu-img') is None:
        return []
    path = folder / 'saved.qcow2'
    path.unlink(missing_ok=True)
    subprocess.run(['qemu-img', 'create', '-q', '-f', 'qcow2', str(path), '1M'], check=True)
    return ['-blockdev', f'driver=qcow2,node-name={NODE},file.driver=file,'
                         f'file.filename={path}']


def wait(ask, done):
    """Until done() of what ask() returns."""
    end = time.monotonic() + LIMIT
    while True:
        answer = ask()
        if done(answer):
            return answer
        if time.monotonic() > end:
            raise Failure(f'not saved in {LIMIT} s: {answer}')
        time.sleep(0.05)


def snapshot(qmp, folder):
    """A snapshot, after which the guest may go on."""
    if not (folder / 'saved.qcow2').exists():
        return
    qmp.command('snapshot-save', **{'job-id': 'save', 'tag': 'stopped', 'vmstate': NODE,
                                    'devices': [NODE]})
    jobs = wait(lambda: qmp.command('query-jobs'),
                lambda jobs: jobs[0]['status'] == 'concluded')
    if 'error' in jobs[0]:
        raise Failure(f'snapshot-save: {jobs[0]["error"]}')
    qmp.command('job-dismiss', id='save')


def migrate(qmp, folder):
    """A migration to a file, after which the guest is of no use."""
    names = [c['capability'] for c in qmp.command('query-migrate-capabilities')]
    uri = f'exec:cat >{folder}/saved.stream'
    if 'mapped-ram' in names:
        uri = f'file:{folder}/saved.mapped'
        qmp.command('migrate-set-capabilities', capabilities=[
            {'capability': name, 'state': True} for name in ('mapped-ram', 'multifd')])
    qmp.command('migrate', uri=uri)
    state = wait(lambda: qmp.command('query-migrate'),
                 lambda state: state.get('status') in ('completed', 'failed'))
    if state['status'] != 'completed':
        raise Failure(f'migrate: {state}')
