# SPDX-License-Identifier: MIT
#
# kill -9 under load, again and again on one folder: four clients post events, the server is killed at a random moment, also while it
# starts, and the folder is checked. What was answered 200 is there once, byte for byte; anything else is there whole or not at all.

import signal
import threading
import time

from harness import Gone, Server, examine


def kill_loop(context):
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
        with Server(folder) as server:
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
    with Server(folder) as server, server.connect() as client:
        _, status = ledger.event(client)
        report.check("after the last kill an event is answered 200", status == 200, f"got {status}")
        report.check("and SIGTERM ends the server with 0", server.stop() == 0)
    problems += examine(folder, ledger)
    torn = len(list(folder.glob("events.torn-*")))
    report.check("the load was a load", len(ledger.kept) > rounds, f"only {len(ledger.kept)} events in {rounds} rounds")
    report.sound(
        f"{rounds} kills: all of {len(ledger.kept)} events answered 200 are there once ({len(ledger.sent)} sent, {torn} torn ends)",
        problems)
