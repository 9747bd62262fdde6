// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing

@Suite("firebreak phone run --web", .needs(.process))
struct PhoneWebTests {
  private let place: TemporaryFolder
  private let phone: PhoneFixture

  init() throws {
    place = try TemporaryFolder()
    let key = P256.Signing.PrivateKey().publicKey.pemRepresentation
    try Data(key.utf8).write(to: place.path("root-public-key.pem"))
    phone = try PhoneFixture(
      "phone", in: place.url,
      servers: ["verification": "http://127.0.0.1:9", "keys": "http://127.0.0.1:9"],
      authority: place.url.path)
  }

  /// A page of the phone's web app, with its secret.
  private struct Page {
    let address: URLComponents

    var port: Int { address.port ?? 0 }

    /// The content of the answer to a message.
    func ask(_ type: Int, _ data: String? = nil) async throws -> [String: Any] {
      let message: [String: Any] = ["type": type, "data": data ?? NSNull(), "requestId": "r"]
      let post = RawPost(
        port: port, path: "/firebreak/messages",
        headers: [
          "host": "127.0.0.1:\(port)", "x-firebreak-bridge": "1",
          "cookie": "firebreak-\(port)=\(address.queryItems?.first?.value ?? "")",
        ])
      let answer = try await post.answer(sending: JSONSerialization.data(withJSONObject: message))
      #expect(answer.status == 200)
      let reply = try JSONSerialization.jsonObject(with: answer.body) as? [String: String]
      // Messages without an answer have an empty body.
      guard let body = reply?["body"], !body.isEmpty else { return [:] }
      return try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
    }
  }

  /// Runs the phone with `options` while `body` uses its page.
  private func running(
    _ options: String..., body: nonisolated(nonsending) (Page, ChildProcess) async throws -> Void
  ) async throws {
    let arguments = phone.arguments(["run", "--json", "--web", "0"] + options)
    try await ChildProcess.withRunning(try Run.product(), arguments) { process in
      let line = try #require(try await process.firstLine())
      let ready = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(ready?["ready"] as? Bool == true && ready?["socket"] is String)
      let address = try #require(ready?["web"] as? String)
      try await body(Page(address: try #require(URLComponents(string: address))), process)
    }
  }

  @Test("A page turns the phone on, and sees its state")
  func page() async throws {
    try await running { page, process in
      #expect(try await page.ask(1_000)["enabled"] as? Bool == false)
      _ = try await page.ask(52, #"{"enableExposureNotificationService":true}"#)
      #expect(try await page.ask(1_000)["enabled"] as? Bool == true)
      let services = try await page.ask(51)["servicesStatus"] as? [String: Any]
      #expect(services?["isBtOn"] as? Bool == true)
      let version = try await Run("--version").output.split(separator: " ").dropFirst().first
      let number = version.map { String($0.prefix { $0 != "," }) }
      #expect(try await page.ask(62)["appVersion"] as? String == number && number != nil)
      #expect(try await page.ask(43, #"{"pin":"1"}"#)["result"] as? Int == 2)
      let traffic = try await page.ask(1_002)
      #expect(traffic["messages"] is [Any])
      _ = try await page.ask(1_010, #"{"language":"pl","hidesDetails":true}"#)
      #expect(try await phone.facts(.status)["enabled"] as? Bool == true)
      #expect(try await process.terminate() == 0)
      let errors = try process.errors
      #expect(errors.isEmpty)
    }
    try await running { page, _ async throws in
      #expect(try await page.ask(63)["language"] as? String == "PL")
      #expect(try await page.ask(1_000)["hidesDetails"] as? Bool == true)
    }
  }

  @Test("A page removes everything, and the phone asks again before it is turned on")
  func removed() async throws {
    try await running { page, _ async throws in
      let consented = try await page.ask(1_004, #"{"step":"consent"}"#)
      #expect(consented["onboarding"] as? String == "consented")
      let removed = try await page.ask(1_008, #"{"what":"everything"}"#)
      #expect(removed["onboarding"] as? String == "new")
      #expect(removed["authorized"] as? Bool == false)
      let declined = try await page.ask(1_004, #"{"step":"decline"}"#)
      #expect(declined["onboarding"] as? String == "declined")
    }
  }

  @Test("Options that cannot be fulfilled give one message")
  func refused() async throws {
    let alone = try await phone.run("run", "--pages", place.url.path)
    #expect(alone.status == 2 && alone.errors.contains("--web"))
    let empty = try await phone.run("run", "--web", "0", "--pages", place.url.path)
    #expect(empty.status == 2 && empty.errors.contains("index.html"))
    try await running { page, _ async throws in
      let other = try PhoneFixture(
        "other", in: place.url, servers: [:], authority: place.url.path)
      try other.configure(
        servers: ["verification": "http://127.0.0.1:9", "keys": "http://127.0.0.1:9"],
        authority: place.url.path)
      let taken = try await other.run("run", "--web", "\(page.port)")
      #expect(taken.status == 3 && taken.errors.contains("\(page.port)"))
    }
  }
}
