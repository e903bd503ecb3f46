# SPDX-License-Identifier: MIT
#
# kill -9 under load, again and again on one folder: four clients post events, the server is killed at a random moment, also while it
# starts, and the folder is checked. What was answered 200 is there once, byte for byte; anything else is there whole or not at all. The same
# with files so small that one is closed or compressed at nearly every moment.

import signal
import threading
import time

from harness import Gone, Server, examine, unfinished


def kill_loop(context):
    kills(context, "")


def kill_loop_rotating(context):
    kills(context, " while files are closed all the time", "--rotate-size", "4KiB")


def kills(context, when, *flags):
    report, folder, ledger = context.report, context.folder(), context.ledger()
    rounds = context.options.rounds
    problems = []

    def post(server):
        try:
            with server.connect() as client:
                while True:
                    ledger.event(client)
        except Gone:
            pass

    for number in range(rounds):
        with Server(folder, *flags) as server:
            clients = [threading.Thread(target=post, args=(server,)) for _ in range(4)]
            for client in clients:
                client.start()
            # One in four dies early: while it starts, or recovers from the one before.
            time.sleep(context.random.uniform(0, 0.03) if number % 4 == 3 else context.random.uniform(0.03, 0.25))
            server.signal(signal.SIGKILL)
            server.wait(10)
            for client in clients:
                client.join()
        problems += [f"round {number + 1}: {problem}" for problem in examine(folder, ledger, tail_may_be_torn=True)]
        if problems:
            break
    with Server(folder, *flags) as server, server.connect() as client:
        _, status = ledger.event(client)
        report.check(f"after the last kill{when} an event is answered 200", status == 200, f"got {status}")
        if flags:
            report.check("and every closed file is compressed", not unfinished(folder), f"{unfinished(folder)}")
            report.check("files were closed", len(list(folder.glob("events-*.gz"))) > rounds, f"{sorted(folder.iterdir())}")
        report.check("and SIGTERM ends the server with 0", server.stop() == 0)
    problems += examine(folder, ledger)
    torn = len(list(folder.glob("events.torn-*")))
    report.check("the load was a load", len(ledger.kept) > rounds, f"only {len(ledger.kept)} events in {rounds} rounds")
    report.sound(
        f"{rounds} kills{when}: all of {len(ledger.kept)} events answered 200 are there once ({len(ledger.sent)} sent, {torn} torn ends)",
        problems)
