// SPDX-License-Identifier: MIT
//
// Lets an NCCO be written as a list of actions with conditions and loops in between.

/// A type that is one action.
public protocol ActionConvertible {
    /// The action.
    var action: Action { get }
}

extension Action: ActionConvertible {
    /// The action itself.
    public var action: Action { self }
}

extension Record: ActionConvertible {
    /// The action `record`.
    public var action: Action { .record(self) }
}

extension Conversation: ActionConvertible {
    /// The action `conversation`.
    public var action: Action { .conversation(self) }
}

extension Connect: ActionConvertible {
    /// The action `connect`.
    public var action: Action { .connect(self) }
}

extension Talk: ActionConvertible {
    /// The action `talk`.
    public var action: Action { .talk(self) }
}

extension NCCO.Stream: ActionConvertible {
    /// The action `stream`.
    public var action: Action { .stream(self) }
}

extension Input: ActionConvertible {
    /// The action `input`.
    public var action: Action { .input(self) }
}

extension Notify: ActionConvertible {
    /// The action `notify`.
    public var action: Action { .notify(self) }
}

extension Wait: ActionConvertible {
    /// The action `wait`.
    public var action: Action { .wait(self) }
}

extension Transfer: ActionConvertible {
    /// The action `transfer`.
    public var action: Action { .transfer(self) }
}

/// Puts together what stands in the braces of `NCCO { … }`.
@resultBuilder
public enum NCCOBuilder {
    /// One action.
    public static func buildExpression(_ action: some ActionConvertible) -> [Action] { [action.action] }
    /// The actions of another NCCO.
    public static func buildExpression(_ ncco: NCCO) -> [Action] { ncco.actions }
    /// Several actions.
    public static func buildExpression(_ actions: [Action]) -> [Action] { actions }
    /// One behind the other.
    public static func buildBlock(_ parts: [Action]...) -> [Action] { parts.flatMap(\.self) }
    /// Nothing where the condition does not hold.
    public static func buildOptional(_ part: [Action]?) -> [Action] { part ?? [] }
    /// The branch that was taken.
    public static func buildEither(first part: [Action]) -> [Action] { part }
    /// The branch that was taken.
    public static func buildEither(second part: [Action]) -> [Action] { part }
    /// What each turn of a loop gave.
    public static func buildArray(_ parts: [[Action]]) -> [Action] { parts.flatMap(\.self) }
    /// What stands under a condition of availability.
    public static func buildLimitedAvailability(_ part: [Action]) -> [Action] { part }
}
