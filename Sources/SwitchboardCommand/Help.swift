// SPDX-License-Identifier: MIT
//
// What the commands print about themselves. The flags of `serve` come from the table that parses them.

import Switchboard
import VonageAPI

enum Help {
    static let commands = [
        "serve", "call", "lint", "explain", "test", "schema", "events", "users", "token", "doctor", "simulate", "health", "version",
        "help",
    ]

    static let overview = """
        switchboard \(switchboardVersion): the server behind a Vonage Voice application

          switchboard serve      answer calls and keep their events
          switchboard call       play a whole call against a server, as Vonage would make it, or many as a load
          switchboard lint       check NCCOs, and folders of flows and templates
          switchboard explain    say in plain words what an NCCO or a flow does
          switchboard test       play calls against the flows, and say what does not go as expected
          switchboard schema     print a JSON Schema for editors
          switchboard events     read the event log: lines, calls, one call's story; check it, replay it
          switchboard users      list, make and delete the people who can log in, and make their tokens
          switchboard token      make tokens for Vonage, and say what one holds and what is wrong with it
          switchboard doctor     look at everything that a call depends on, with a cure for each fault
          switchboard simulate   play Vonage's side, offline: users, conversations, calls, video sessions
          switchboard health     ask a running server whether it answers
          switchboard version    print the version
          switchboard help       print this; switchboard COMMAND --help explains a command

        A first call:

          switchboard serve --number 14155550100
          curl 'localhost:3000/voice/answer?to=%2B44%207700%20900123&from_user=Alice'
        """

    static let serve: String = {
        var text = """
            switchboard serve [FLAG…]: answer calls and keep their events

            A flag wins over the environment, the environment over the default in brackets.

            """
        for setting in Setting.all {
            text += "\n  \(setting.flag)\(setting.placeholder.map { " \($0)" } ?? "")"
            if !setting.environment.isEmpty { text += "   [\(setting.environment.joined(separator: ", "))]" }
            text += "\n      \(setting.help)"
        }
        return text + """


            Examples:
              switchboard serve --number 14155550100
              switchboard serve --host 0.0.0.0 --port 8080 --events /data/events --public-url https://calls.example.com
              switchboard serve --host 0.0.0.0 --port 443 --tls-cert fullchain.pem --tls-key privkey.pem --redirect-from 80
              VONAGE_NUMBER=14155550100 switchboard serve --log-format json

            SIGTERM and SIGINT stop it in order, a second one at once. SIGHUP opens the event log anew and reads flows and certificate again,
            unless a terminal was closed.
            Exit codes: 0 stopped in order, 64 a setting is wrong, 69 the address is in use, 73 another process has the event folder.
            """
    }()

    static let lint = """
        switchboard lint [FILE|FOLDER…]: check NCCOs, and folders of flows and templates

        A folder with flows.json is checked as a whole, as the server reads it; other JSON files are NCCOs or templates. - is standard
        input. Without a path the folder nccos is checked.

          --strict
              warnings too make the exit code 2
          --format text|json
              one line for each finding (text), or one JSON object

        A line is FILE:LINE:COLUMN: error NCCO012 $[1].endpoint[0].number: what is wrong; what would be right

        Examples:
          switchboard lint
          switchboard lint hold.json menu.json
          curl -s https://calls.example.com/answer | switchboard lint --strict -

        Exit codes: 0 no error, 1 an error, 2 a warning with --strict, 64 the command line or a path that cannot be read.
        """

    static let explain = """
        switchboard explain FILE: say in plain words what an NCCO does (- is standard input)
        switchboard explain --flow NAME [FLAG…]: say what a flow does with a request, and which rule chose it

          --to, --from, --from-user, --custom-data, --status VALUE
              parameters of the request; --param NAME=VALUE is any other one, and may be repeated
          --press DIGITS, --say WORDS
              what the caller pressed or said, for a flow that answers an input
          --at TIME
              when, in UTC, such as 2026-11-30T10:00Z (now)
          --nccos DIR, --number NUMBER, --inbound-user NAME, --public-url URL, --allow-prefixes LIST, --deny-prefixes LIST
              as for switchboard serve

        Examples:
          switchboard explain nccos/ivr-menu.json
          switchboard explain --flow answer --number 14155550100 --to 14155550100 --from 447700900123
          switchboard explain --flow choice --press 2

        Exit codes: 0 explained, 1 the NCCO or the folder has an error, 64 the command line.
        """

    static let test = """
        switchboard test [FILE|FOLDER…] [FLAG…]: play calls against the flows, and say what does not go as expected

        A file holds one scenario, or a list of them: who calls, what people do, and what must hold. Without a path those in the folder
        scenarios of the flows are played, nccos/scenarios. The server is one of its own, on a port that nobody else knows, with a log that
        goes with it; time is virtual, so that a call of an hour takes as long as its requests.

          --url URL
              play against a running server; its clock is its own, so scenarios with "at" are skipped, and its settings are taken as they are
          --nccos DIR, --number NUMBER, --inbound-user NAME, --public-url URL
              as for switchboard serve; a scenario's own settings come first
          --filter TEXT
              only scenarios with this in their name
          --format text|junit|json
              a line for each as it is played and a story for each that fails (text), or one document in the end; files with
              a fault are told on standard error, with 64 and without a document
          --update
              write the NCCOs of calls to the files that scenarios name for them, and show what callers hear otherwise than before
          --jobs N
              calls that are played at once, 1 to 256 (64)

        A scenario:
          {
            "scenario": "The caller presses 1, and sales is busy",
            "call": { "from": "447700900123", "to": "14155550100", "flow": "ivr", "at": "2026-11-30T10:00:00Z" },
            "caller": [{ "press": "1" }],
            "callees": { "14155550111": "busy" },
            "expect": { "heard": ["Welcome", { "matches": "after the (tone|beep)" }], "rung": ["14155550111"] }
          }

        call is one of from and to, from_user (to, custom_data), sip and to (headers), or api: { to, from }; with flow, method and at.
        caller, once for each input: press, say or nothing. callees: answers, busy, declines, no-answer, unreachable, machine, bad-number,
        or { does, after, talk_for, hangs_up }. Who is told what to do and not rung fails the scenario, and so does what no
        input listens for. Also talk_for, hangs_up, gives_up_after, and settings: { number, inbound_user }.
        expect: heard, not_heard (text, or matches and a pattern), rung, events, never, rules, answer_within, state, complaints, nccos.

        Examples:
          switchboard test
          switchboard test menu.json --filter sales --update
          switchboard test --format junit > report.xml

        Exit codes: 0 all hold, 1 one does not, or none was played, 64 the command line, or scenarios or flows with a fault,
        69 nobody listens at --url.
        """

    static let schema = """
        switchboard schema ncco|flows: print a JSON Schema (2020-12) for editors

        It is made of the same tables as lint, which also knows what a schema cannot say.

        Example:
          switchboard schema ncco > ncco.schema.json
        """

    static let events = """
        switchboard events tail [-f] [FLAG…]: print lines of the event log, with -f also those that come
        switchboard events show CALL: tell one call's story, by its conversation_uuid or a leg's uuid
        switchboard events calls [FLAG…]: one line for each call: began, from, to, how it ended, seconds, price
        switchboard events verify: check every line and file, and that no number is missing
        switchboard events replay [--call CALL] --to-url URL [FLAG…]: send the logged requests to a server again

        The log is only read, while the server writes or not, also a copy on another machine.

          --events PATH
              a folder, a file (plain or compressed), or - for standard input (events) [EVENTS_DIR]
          --json
              JSON, one value a line
          --unmasked
              telephone numbers in full; otherwise all but their last three digits are hidden
          --call CALL, --status STATUS
              tail: only lines of a call or leg, only those of a status (busy, completed, …) or kind (input, error, answer, …)
          --lines N|all, -n N|all
              tail: the last N lines before it goes on (10; all with --call)
          --since TIME, --to TIME
              calls: that began then or later, or before; as 2h, yesterday, 2026-11-30 or 2026-11-30T10:00Z, all in UTC
          --status STATUS, --number NUMBER, --user NAME
              calls: whose or whose leg's state this is, and who took part

        replay sends answer requests and events in the order of their numbers, one at a time, each with 10 s for its answer, and says
        whether the server's NCCO is the logged one; a flow that uses its own URL needs the --public-url it had. With a signature
        secret the requests are signed as of now. Follows no redirects.

          --to-url URL
              http://HOST:PORT, also with a path in front of /voice, https://HOST:PORT of this machine, or unix:PATH
          --yes
              send although the host is not loopback (localhost, 127.0.0.0/8, [::1], unix:)
          --call CALL, --since TIME, --to TIME
              only these calls or legs (may be repeated), only what arrived then or later, or before
          --speed 10x
              how many times as fast as it was, or max for no waits (1x); no wait is longer than 10 s
          --signature-secret-file FILE
              what the server's webhooks are signed with; the first of several [VONAGE_SIGNATURE_SECRET]
          --keep-numbers
              send telephone numbers as they are. Otherwise each becomes one that is reserved for fiction, +1 415 555 0100 to 0199 or
              +44 7700 900000 to 900999, the same wherever it stands as a whole value; in sentences and addresses they stay. The list at
              the end says which became which: one that the server's flows go by is to be its --number

        Lines that cannot be read are counted and told, and end nothing.

        Examples:
          switchboard events tail -f --status completed
          switchboard events show CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51
          switchboard events calls --since 2h --status busy
          switchboard events replay --call CON-0d6d4d2e-5c1b-4f0e-9a77-2b1f6a3c9e51 --to-url http://localhost:3000 --speed 10x
          ssh server tar c events | tar x && switchboard events verify --events events

        Exit codes: 0 all went well, 1 show found no such call, verify a fault, or replay nothing to send or an answer other than 2xx, 64
        the command line or a path that cannot be read, 69 replay found nobody who listens.
        """

    static let doctor = """
        switchboard doctor [FLAG…] [--online]: look at everything that a call depends on, with a cure for each fault

        It takes the flags and the environment of switchboard serve, and changes nothing. Where no server listens on the port it listens
        itself for as long as it takes.

          --public-url URL
              also ask whether that address leads to this very process, or to a tunnel's own page, or elsewhere
          --online
              also ask whether Vonage's API answers, and compare clocks

        A line for each thing: ok, warning, failed or skipped, what was seen, and behind → what to do. Behind them stand the lines for
        Vonage's own command line that link application and number.

        Example:
          switchboard doctor --public-url https://calls.example.com --online

        Exit codes, by the first failure: 0 none, 64 settings, number, secret or flows, 65 key, token or certificate, 69 port, address or Vonage's API,
        71 clock, 73 events folder.
        """

    static let users = """
        switchboard users list [FLAG…]: show who can log in with the Client SDK
        switchboard users create NAME [FLAG…]: make a user, where there is none of this name, and print the id
        switchboard users delete NAME [FLAG…]: delete a user
        switchboard users token NAME [FLAG…]: print a token for a user that is there

        They ask Vonage's API; no server needs to run. Users that Vonage made for telephones are not listed.

          --application-id UUID   [VONAGE_APPLICATION_ID, API_APPLICATION_ID]
          --private-key-file FILE   [\(ApplicationCredentials.keyVariables.joined(separator: ", "))]
              as for switchboard serve; else vonage_app.json or private.key, if one is in this folder
          --region \(VonageRegion.allCases.map(\.rawValue).joined(separator: "|"))   [REGION]
              where the users live: the region that the apps connect to (us)
          --api-url URL   [VONAGE_API_URL]
              where Vonage's API is (\(VonageRegion.us.api), or that of --region)
          --ttl TIME
              token: how long it is good, from 60s to 24h (6h)
          --json
              list: one JSON object a line

        Examples:
          switchboard users create Alice
          switchboard users token Alice --ttl 1h

        Exit codes: 0 done, 1 there is no such user, or Vonage does not take the name, 64 the command line, or no application id or key, 69
        Vonage gave no good answer.
        """

    static let token = """
        switchboard token user NAME [FLAG…]: make the token with which an app user logs in with the Client SDK
        switchboard token application [FLAG…]: make the token with which a server calls Vonage's APIs
        switchboard token video SESSION [FLAG…]: make the token with which a client connects to a video session
        switchboard token inspect [TOKEN|FILE|-] [FLAG…]: say what a token holds in words, and what is wrong with it
        switchboard token verify-webhook --headers FILE [FLAG…]: say whether a webhook that was kept is Vonage's, and why not

        The token alone is printed, so that it can stand in $(…); notes go to standard error. Nothing is sent anywhere.

          --application-id UUID   [VONAGE_APPLICATION_ID, API_APPLICATION_ID]
          --private-key-file FILE   [\(ApplicationCredentials.keyVariables.joined(separator: ", "))]
              as for switchboard serve; else vonage_app.json or private.key, if one is in this folder
          --ttl TIME
              how long it is good: 90s, 15m, 6h, 30d. user 60 s to 24 h (6h), application 30 s to 24 h (15m), video 60 s to 30 d (24h)
          --acl PATH,…|JSON|FILE.json
              user: what it opens (the 11 paths that the Client SDK needs)
          --role subscriber|publisher|publisheronly|moderator
              video: what the client may do (publisher)
          --data TEXT
              video: what other clients can read of it, at most 1000 characters
          --public-key-file FILE
              inspect: the key that checks the signature; a private one will do (the public half of the one above)
          --at TIME
              inspect: as if it were then, in UTC, such as 2026-11-30T10:00Z (now)
          --json
              inspect: one JSON object
          --headers FILE, --body FILE
              verify-webhook: the request's field lines, with its request line if there is one, and its body, byte for byte
          --method GET|POST, --query QUERY
              verify-webhook: where the file has no request line (POST with a body; the query as it came, without ?)
          --signature-secret-file FILE   [VONAGE_SIGNATURE_SECRET]
          --webhook-leeway TIME, --payload-hash required|optional
              verify-webhook: as for switchboard serve; --at judges the time as of then

        inspect reads standard input unless a token or a file is named; on a command line other users can see a token. It checks RS256 by
        the given key and nothing else: keys inside of a token are named and not looked at.

        Examples:
          switchboard token user Alice --ttl 1h
          curl -H "Authorization: Bearer $(switchboard token application)" https://api.nexmo.com/v1/users
          switchboard token user Alice | switchboard token inspect

        Exit codes: 0 made, or nothing is wrong as far as it could be checked, 1 inspect or verify-webhook found something wrong, 64 the command line, or no
        application id or key.
        """

    static let call = """
        switchboard call [FLAG…]: play a whole call against a server, as Vonage would make it

        It asks for the NCCO, follows it action by action, sends every event, and prints what happens: requests and answers, what the
        caller hears, who rings. Time is virtual: a call of a minute takes as long as its requests. In the end it says what Vonage would
        have refused, lost or sent again.

        Who calls:
          --to NUMBER|USER, --from NUMBER
              a phone calls one of our numbers (447700900123 calls the first --number, else 14155550100)
          --from-user USER [--custom-data JSON]
              an app user calls, with what the app says beside --to
          --sip URI [--sip-header X-NAME=VALUE]
              a SIP endpoint calls
          --api
              the REST API calls --to: a number, a user, or a sip: or wss: URI

        What people do:
          --callee answers|busy|declines|no-answer|unreachable|machine|bad-number
              whoever is rung (answers)
          --answers-after TIME, --talk-for TIME
              until the callee answers (3s), and how long the two talk (12s)
          --hangup caller|callee
              who hangs up then (caller)
          --gives-up-after TIME
              the caller hangs up that long after the beginning, whatever happens
          --press KEYS, --say WORDS
              what the caller does when an input listens: once for each, in this order; --press 1,2# is for two inputs

        Where:
          --url URL
              the server, or its answer URL (http://localhost:3000). Behind a URL without a path, or with one of /voice/, lie the events
              at /voice/event and the fallback at /voice/fallback
          --flow NAME
              the flow that answers, at /voice/NAME of a URL without a path (answer)
          --event-url URL, --fallback-url URL
              where they lie elsewhere; empty for none
          --post
              answer and fallback requests are POST
          --serve
              start a server inside, with the flows of --nccos and with --number, --inbound-user and --public-url
          --secret-file FILE
              sign webhooks with this signature secret (or VONAGE_SIGNATURE_SECRET)
          --realtime
              let time pass as it does
          --json
              a JSON object for each thing that happens, and one for the verdict

        Trouble on the way, the same with the same --seed N; what has no share happens to the first request that it can, and to every
        fourth of the others:
          --duplicate SHARE       events are delivered twice          --drop SHARE        events are never sent
          --reorder               events overtake each other          --slow TIME         answers arrive later
          --unsigned              webhooks come without a signature   --skew TIME         Vonage's clock is ahead (-120s: behind)
          --event-before-answer   events come before the request      --retry             answers get lost, and Vonage tries again
          --cut-connection        requests break off in the middle    --tunnel-html       a tunnel answers with a page of its own

        A load, against this machine alone:
          --rate RATE --for TIME
              begin so many calls a second (200/s), for so long (10s)
          --mix app:70,phone:30
              kinds of calls and their weights: app, phone, sip

        Examples:
          switchboard call --serve --from-user Alice --to 447700900123
          switchboard call --flow choice --press 1 --callee busy
          switchboard call --duplicate 0.2 --reorder --seed 7
          switchboard call --rate 200/s --for 60s --mix app:70,phone:30

        Exit codes: 0 all went well, 1 the call or an event was lost, 2 the server broke a rule of Vonage's, 64 the command line,
        69 nobody listens at the URL.
        """

    static let simulate = """
        switchboard simulate [FLAG…]: play Vonage's side, offline: users, conversations, calls, video sessions

        It answers as Vonage's APIs do, checks tokens in earnest, and prints the settings with which a server asks it and not Vonage.
        Calls that are made by POST /v1/calls are played as time passes: their NCCO runs, or is asked for at their answer URL, and their
        events go to their event URL, or where the application's settings say. A line is printed for each thing that happens, with the
        end of the call's uuid in front.

          --host HOST, --port PORT
              where it listens (localhost, 3001)
          --application-id ID
              the application that it serves (that of the state, else a new one)
          --private-key-file FILE, --public-key-file FILE
              its key, or the half that tokens are checked with. Without them a throw-away key is made, in a file of its own that goes
              with the process, or in FILE.key beside the state, which is used again
          --state FILE
              keep users, conversations and calls in this file, and go on with it
          --fail LIST
              trouble, one kind after the other: 429, 500, 503, html (502 with a page), html=200, empty, cut (half a body), slow=30s
          --fail-every N
              only one request in N has it (1)
          --duplicate-status 400|409
              how a name that is taken is refused (400)
          --unknown-name 404|empty
              how a list of users by a name that nobody has is answered (404)
          --region-trap
              what was made in one region is not found in another: /us (also without a prefix), /eu and /ap in front of a path
          --no-call-limit
              take more than 3 new calls and 15 other requests for calls a second
          --callee answers|busy|declines|no-answer|unreachable|machine|bad-number
              what whoever is called does (answers)
          --answers-after TIME, --talk-for TIME
              from the start of a call to the answer (3s), and how long two talk (12s)
          --press KEYS, --say WORDS
              what whoever is called does where an input listens: once for each, in this order; --press 1,2# is for two inputs
          --secret-file FILE
              sign webhooks with this signature secret (or VONAGE_SIGNATURE_SECRET)
          --no-play
              play no calls: whoever is called answers at once, and nothing is asked or told

        The Application API (/v2/applications/ID) takes any API key and secret, or those of VONAGE_API_KEY and VONAGE_API_SECRET.

        Examples:
          switchboard simulate
          switchboard simulate --state vonage.json --application-id 11111111-2222-4333-8444-555555555555
          switchboard simulate --callee machine --answers-after 1s --secret-file secret.txt
          switchboard simulate --fail 429,500,html,empty,cut,slow=30s --fail-every 3

        SIGTERM and SIGINT stop it. Exit codes: 0 stopped, 64 the command line, or a file that cannot be used, 69 the address is in use.
        """

    static let health = """
        switchboard health [--url URL]: ask a running server whether it answers

          --url URL
              the server, as http://HOST:PORT, https://HOST:PORT of this machine, or unix:PATH (where HOST, PORT and VCR_PORT of the
              environment let one listen, with TLS where TLS_CERT is set, else http://localhost:3000)

        Exit code 0 where it answers, also when it is degraded: calls go on, and a restart would end them. 1 where it does not.
        """
}
