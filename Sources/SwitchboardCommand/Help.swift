// SPDX-License-Identifier: MIT
//
// What the commands print about themselves. The flags of `serve` come from the table that parses them.

import Switchboard

enum Help {
    static let commands = ["serve", "health", "version", "help"]

    static let overview = """
        switchboard \(switchboardVersion): the server behind a Vonage Voice application

          switchboard serve      answer calls and keep their events
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
              VONAGE_NUMBER=14155550100 switchboard serve --log-format json

            SIGTERM and SIGINT stop it in order, a second one at once. SIGHUP opens the event log anew, unless a terminal was closed.
            Exit codes: 0 stopped in order, 64 a setting is wrong, 69 the address is in use, 73 another process has the event folder.
            """
    }()

    static let health = """
        switchboard health [--url URL]: ask a running server whether it answers

          --url URL
              the server, as http://HOST:PORT or unix:PATH (where HOST, PORT and VCR_PORT of the environment let one listen, else
              http://localhost:3000)

        Exit code 0 where it answers, also when it is degraded: calls go on, and a restart would end them. 1 where it does not.
        """
}
