import Foundation

/// What the health authority does.
enum ServerCommand {
  static func run(_ arguments: inout Arguments) throws {
    let folder = URL(fileURLWithPath: try arguments.next("the server's folder"))
    let now = try arguments.date("at") ?? Date()
    let server = try LocalServer(in: folder) { now }
    switch try arguments.next("issue-code, keys or reset-keys") {
    case "issue-code": Terminal.say(try server.issueCode())
    case "keys": server.publishedDays.forEach { Terminal.say("a key of \($0)") }
    case "reset-keys": try server.removeKeys()
    case let word: throw Arguments.Problem("the server has no command \(word)")
    }
  }
}
