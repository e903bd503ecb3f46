// SPDX-License-Identifier: MIT
//
// A JSON Schema (draft 2020-12) of `flows.json`, from the words that its reader knows. It refuses nothing that the reader only warns of, such as
// a key that means nothing.

import NCCO

package enum FlowSchema {
    /// JSON text with an LF behind it.
    package static var text: String {
        var lines = JSONLines()
        lines.open()
        lines.add("$schema", "https://json-schema.org/draft/2020-12/schema")
        lines.add("title", "Switchboard flows")
        lines.add("description", "Which template answers which request")
        lines.add("type", "object")
        lines.add("required", list: ["flows"])
        lines.open("properties")
        lines.add("$schema", literal: #"{"type": "string"}"#)
        lines.add("comment", literal: "true")
        lines.open("vars")
        lines.add("description", "Values of your own for placeholders")
        lines.add("type", "object")
        lines.add("additionalProperties", literal: ##"{"$ref": "#/$defs/value"}"##)
        lines.add("propertyNames", literal: #"{"pattern": "^[A-Za-z0-9_-]+$"}"#)
        lines.add("not", literal: "{\"anyOf\": [" + FlowNames.reserved.map { "{\"required\": [\"\($0)\"]}" }.joined(separator: ", ") + "]}")
        lines.close()
        lines.open("flows")
        lines.add("description", "The flow NAME answers /voice/NAME")
        lines.add("type", "object")
        lines.add("minProperties", literal: "1")
        lines.add("propertyNames", literal: #"{"pattern": "^[A-Za-z0-9_-]{1,64}$"}"#)
        lines.add("additionalProperties", literal: ##"{"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/rule"}}"##)
        lines.close()
        lines.close()
        lines.open("$defs")
        addRule(&lines)
        addCondition(&lines)
        addTime(&lines)
        addValue(&lines)
        lines.close()
        lines.close()
        return lines.text + "\n"
    }

    /// Any JSON without placeholders, which are for templates.
    private static func addValue(_ lines: inout JSONLines) {
        lines.open("value")
        lines.open("anyOf", "[")
        lines.add(nil, literal: #"{"type": ["number", "boolean", "null"]}"#)
        lines.add(nil, literal: ##"{"type": "string", "not": {"pattern": "\\{\\{"}}"##)
        lines.add(nil, literal: ##"{"type": "array", "items": {"$ref": "#/$defs/value"}}"##)
        lines.add(nil, literal: ##"{"type": "object", "additionalProperties": {"$ref": "#/$defs/value"}}"##)
        lines.close("]")
        lines.close()
    }

    private static func addRule(_ lines: inout JSONLines) {
        lines.open("rule")
        lines.add("description", "The first rule whose every condition holds decides")
        lines.add("type", "object")
        lines.add("required", list: ["ncco"])
        lines.open("properties")
        lines.add("comment", literal: "true")
        lines.open("ncco")
        lines.add("description", "The template's file name without .json")
        lines.add("type", "string")
        lines.add("minLength", literal: "1")
        lines.close()
        lines.open("when")
        lines.add("description", "Conditions by the path of a parameter, such as to, custom_data.tier or dtmf.digits; all must hold")
        lines.add("type", "object")
        lines.open("propertyNames")
        lines.add("pattern", #"^[^.]+(\.[^.]+)*$"#)
        lines.open("not")
        lines.add("enum", list: FlowNames.reserved)
        lines.close()
        lines.close()
        lines.add("properties", literal: ##"{"now": {"$ref": "#/$defs/time"}}"##)
        lines.add("additionalProperties", literal: ##"{"$ref": "#/$defs/condition"}"##)
        lines.close()
        lines.close()
        lines.close()
    }

    private static func addCondition(_ lines: inout JSONLines) {
        let scalar = #"{"type": ["string", "number", "boolean"]}"#
        lines.open("condition")
        lines.open("anyOf", "[")
        lines.add(nil, literal: scalar)
        lines.add(nil, literal: "{\"type\": \"array\", \"minItems\": 1, \"items\": \(scalar)}")
        lines.open()
        lines.add("type", "object")
        lines.add("minProperties", literal: "1")
        lines.add("maxProperties", literal: "1")
        lines.add("additionalProperties", literal: "false")
        lines.open("properties")
        for word in FlowFile.conditionWords {
            switch word {
            case "present": lines.add(word, literal: #"{"type": "boolean"}"#)
            case "is":
                lines.open(word)
                lines.add("enum", list: ValueKind.allCases.map(\.rawValue))
                lines.close()
            case "starts_with":
                lines.add(word, literal: "{\"anyOf\": [\(scalar), {\"type\": \"array\", \"minItems\": 1, \"items\": \(scalar)}]}")
            default: lines.add(word, literal: ##"{"$ref": "#/$defs/condition"}"##)
            }
        }
        lines.close()
        lines.close()
        lines.close("]")
        lines.close()
    }

    /// `mon` as a regular expression that takes `Mon` and `MON` as well.
    private static func inEitherCase(_ day: Weekday) -> String { "\(day)".map { "[\($0.uppercased())\($0)]" }.joined() }

    private static func addTime(_ lines: inout JSONLines) {
        let time = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
        lines.open("time")
        lines.add("description", "Between two times of the day, on some days of the week, in a time zone")
        lines.open("anyOf", "[")
        lines.add(
            nil,
            literal:
                ##"{"type": "object", "required": ["not"], "additionalProperties": false, "properties": {"not": {"$ref": "#/$defs/time"}}}"##
        )
        lines.open()
        lines.add("type", "object")
        lines.add("required", list: ["zone"])
        lines.add("additionalProperties", literal: "false")
        lines.open("properties")
        for word in FlowFile.timeWords {
            switch word {
            case "between":
                lines.open(word)
                lines.add("type", "array")
                lines.open("prefixItems", "[")
                for pattern in [time, "\(time)|^24:00$"] {
                    lines.open()
                    lines.add("type", "string")
                    lines.add("pattern", pattern)
                    lines.close()
                }
                lines.close("]")
                lines.add("minItems", literal: "2")
                lines.add("maxItems", literal: "2")
                lines.close()
            case "days":
                lines.open(word)
                lines.add("type", "array")
                lines.add("minItems", literal: "1")
                lines.open("items")
                lines.open("anyOf", "[")
                lines.open()
                lines.add("enum", list: Weekday.allCases.map { "\($0)" })
                lines.close()
                lines.open()
                lines.add("pattern", "^(" + Weekday.allCases.map(inEitherCase).joined(separator: "|") + ")$")
                lines.close()
                lines.close("]")
                lines.add("type", "string")
                lines.close()
                lines.close()
            default: lines.add(word, literal: #"{"type": "string", "description": "An IANA name such as Europe/London"}"#)
            }
        }
        lines.close()
        lines.close()
        lines.close("]")
        lines.close()
    }
}
