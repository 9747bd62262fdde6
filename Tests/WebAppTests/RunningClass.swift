// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import ServedSystem
import TestSupport
import Testing
import TextEncodings

/// `firebreak up --class` in a process of its own.
struct RunningClass: Sendable {
  let process: ChildProcess
  /// The teacher's address, with its secret.
  let teacher: String
  let port: Int

  /// Runs a class while `body` runs. It listens on loopback only.
  static func with<Value: Sendable>(
    size: Int, _ body: nonisolated(nonsending) (RunningClass) async throws -> Value
  ) async throws -> Value {
    let hosts = ["127.0.0.1"] + (1...size + 1).map(host)
    let arguments =
      ["up", "--class", "\(size)", "--port", "0", "--listen", "127.0.0.1", "--json"]
      + hosts.flatMap { ["--host", $0] }
    // The class is killed and cannot remove its data.
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    return try await ChildProcess.withRunning(
      try Run.product(), arguments,
      environment: Run.environment(adding: ["TMPDIR": folder.url.path])
    ) { process in
      let line = try await process.firstLine() ?? ""
      let errors = try process.errors
      let ready = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      let teacher = try #require(ready?["teacher"] as? String, "\(errors)")
      let port = try #require(URL(string: teacher)?.port)
      return try await body(RunningClass(process: process, teacher: teacher, port: port))
    }
  }

  /// The name of the machine for one pupil. Cookies belong to a host, so each pupil of one browser needs another.
  private static func host(_ pupil: Int) -> String { "pupil-\(pupil).class.localhost" }

  /// The address of the start page for a pupil, from 1.
  func address(of pupil: Int) -> String { "http://\(Self.host(pupil)):\(port)/" }
}

extension Browser {
  /// Opens the start page as a pupil and takes a phone.
  ///
  /// - Returns: The number of the phone.
  @discardableResult
  func join(_ room: RunningClass, as pupil: Int) async throws -> Int {
    try await open(room.address(of: pupil))
    try await click("#join")
    return try await phoneNumber()
  }

  /// The number of the phone on the page, once its stream of events is open.
  func phoneNumber() async throws -> Int {
    try await waitForStream()
    let heading = try await text("h1")
    return try #require(Int(heading.filter(\.isNumber)), "\(heading)")
  }

  /// Waits until the page follows the lesson.
  func waitForStream() async throws {
    try await wait(until: "document.body.dataset.stream === 'open'")
  }

  /// Presses a button of the teacher's page that lets time pass, and waits until the time is there.
  ///
  /// A day of many phones may take longer than a single wait on a busy machine. Each change of the time begins a new
  /// wait.
  func pass(_ button: String, until time: String) async throws {
    let shown = "document.querySelector('#clock .time').textContent"
    try await click("#\(button)")
    var last: JSONValue
    repeat {
      last = try await script("return \(shown)")
      try await wait(
        until: """
          (t => t !== a[1] || t.startsWith(a[0]) && !document.querySelector('#clock .hint'))
          (\(shown))
          """, .string(time), last)
    } while try await script("return \(shown)") != last
  }

  /// Waits until the row of a phone in the teacher's table has a text.
  func waitForRow(_ phone: Int, _ text: String) async throws {
    try await wait(
      until: "document.querySelector(`[data-phone='${a[0]}']`)?.textContent.includes(a[1])",
      .number(Double(phone)), .string(text))
  }
}
