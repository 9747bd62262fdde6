// SPDX-License-Identifier: Apache-2.0
import DesktopNotifications
import Foundation
import SealedStorage
import TestSupport
import Testing
import World

@testable import ExposureApp
@testable import PhoneProcess

@Suite("Operations of a phone")
struct PhoneOperationsTests {
  private let scene: PhoneScene

  init() throws {
    scene = try PhoneScene()
  }

  private func started() async throws -> Phone {
    let phone = try scene.phone()
    await phone.start()
    return phone
  }

  private func damaged(_ phone: Phone) async throws -> [String] {
    try await phone.facts(.status).json["damaged"] as? [String] ?? []
  }

  @Test("Until a check is complete the risk is not known, also in the results of checks that fail")
  func firstCheck() async throws {
    _ = try await started().facts(.enable)
    for page in ["<html>Sign in</html>", "<html>Sign in again</html>"] {
      scene.server.answerAll(with: page)
      let phone = try await started()
      let check = try await phone.facts(.check)
      #expect(check.status == .failed && check.json["failure"] as? String == "portal")
      for json in [check.json, try await phone.facts(.status).json] {
        #expect(json["riskLevel"] is NSNull)
      }
    }
    scene.server.answerAll(with: nil)
    #expect(try await started().facts(.check).json["riskLevel"] as? Int == 0)
  }

  @Test("Damaged stays are set aside and reported until the owner acknowledges it")
  func damagedTravel() async throws {
    var phone = try await started()
    #expect(try await phone.facts(.enable).status == .done)
    #expect(try await phone.facts(.travel(to: "DE")).json["incomplete"] as? Bool == false)
    try scene.damage(scene.folder.travel)
    let answer = await phone.perform(PhoneRequest(.travel(to: nil)))
    #expect(answer.status == .done && answer.text.contains("damaged"), "\(answer.text)")
    #expect(try await phone.facts(.travel(to: nil)).json["incomplete"] as? Bool == true)
    #expect(try await damaged(phone) == ["travel"])
    let aside = scene.folder.travel.appendingPathExtension("damaged")
    #expect(FileManager.default.fileExists(atPath: aside.path))
    scene.clock.advance(by: 3_600)
    phone = try await started()
    #expect(try await damaged(phone) == ["travel"])
    let notices = try await phone.facts(.status).json["shownNotices"] as? [[String: Any]]
    #expect((notices?.first?["body"] as? String)?.contains("stays") == true)
    // The stays of the time after the damage count.
    _ = try await phone.facts(.travel(to: "DE"))
    #expect(try await phone.facts(.travel(to: nil)).json["traveled"] as? Bool == true)
    #expect(try await phone.facts(.remove(.notices)).status == .done)
    #expect(try await damaged(phone) == [])
    phone = try await started()
    #expect(try await damaged(phone) == [])
    scene.clock.advance(by: 15 * 86_400)
    phone = try await started()
    #expect(try await damaged(phone) == [])
    #expect(!FileManager.default.fileExists(atPath: aside.path))
  }

  @Test("Damaged notices are set aside and reported, also at the start")
  func damagedNotices() async throws {
    var phone = try await started()
    _ = try await phone.facts(.enable)
    _ = try await phone.facts(.travel(to: "DE"))
    try scene.damage(scene.folder.travel)
    #expect(try await phone.facts(.status).json["notices"] as? Int == 1)
    try scene.damage(scene.folder.notices)
    phone = try await started()
    #expect(Set(try await damaged(phone)) == ["travel", "notices"])
    try Data().write(to: scene.folder.notices)
    #expect(Set(try await damaged(phone)) == ["travel", "notices"])
    #expect(try await phone.facts(.remove(.everything)).status == .done)
    #expect(try await damaged(phone) == [])
    let names = try FileManager.default.contentsOfDirectory(atPath: scene.folder.url.path)
    #expect(!names.contains { $0.hasSuffix(".damaged") })
  }

  @Test("Starting over is refused unless data is damaged, and then sets the damaged data aside")
  func startOver() async throws {
    var phone = try await started()
    _ = try await phone.facts(.enable)
    #expect(try await phone.facts(.startOver).status == .refused)
    for name in ["state.sealed", "begun.sealed"] {
      try scene.damage(scene.folder.app.appendingPathComponent("Store/\(name)"))
    }
    phone = try await started()
    #expect(try await phone.facts(.status).json["storage"] as? String == "damaged")
    let reply = try await phone.facts(.startOver)
    #expect(reply.status == .done && reply.json["startedOver"] as? Bool == true)
    let status = try await phone.facts(.status).json
    #expect(status["storage"] as? String == "ready" && status["enabled"] as? Bool == true)
    #expect(status["riskLevel"] is NSNull)
    #expect(try await phone.facts(.check).status == .done)
    #expect(try await phone.facts(.startOver).status == .refused)
  }

  @Test("A stay is recorded while notifications are off, and reported when they are on")
  func travelWhileOff() async throws {
    let phone = try await started()
    #expect(try await phone.facts(.travel(to: nil)).status == .refused)
    let recorded = try await phone.facts(.travel(to: "DE"))
    #expect(recorded.status == .done && recorded.json["traveled"] is NSNull)
    _ = try await phone.facts(.enable)
    #expect(try await phone.facts(.travel(to: nil)).json["traveled"] as? Bool == true)
  }

  @Test("A command with other options than those of the running phone is refused")
  func otherOptions() {
    var running = PhoneStart()
    running.clockOffset = 60
    running.configuration = "/a/phone.json"
    #expect(running.refusal(of: PhoneStart()) == nil)
    var command = running
    #expect(running.refusal(of: command) == nil)
    // A phone with a credential of systemd has no path to compare.
    command.keyFile = "/a/key"
    #expect(running.refusal(of: command) == nil)
    running.keyFile = "/b/key"
    #expect(running.refusal(of: command)?.text.contains("--key-file") == true)
    command.clockOffset = 61
    command.configuration = "/b/phone.json"
    let refusal = running.refusal(of: command)
    #expect(refusal?.status == .badInput)
    #expect(refusal?.text.contains("--clock-offset and --config and --key-file") == true)
  }

  @Test("Without a desktop, or with one that does not answer, the log refers to the status")
  func noDesktop() async throws {
    let bus = try #require(
      DBusAddress("unix:path=\(scene.folder.url.appendingPathComponent("bus").path)"))
    for desktop in [nil, DesktopNotifications(on: bus)] {
      let log = CollectedLog()
      let temporary = try TemporaryFolder()
      let key = SealingKey(from: SystemRandomness())
      let folder = try PhoneFolder(creating: temporary.path("phone").path)
      func notices() -> PhoneNotices {
        PhoneNotices(
          in: folder, key: key, desktop: desktop,
          preferences: PhonePreferences(
            in: folder, key: key, language: .english, randomness: SystemRandomness()),
          clock: scene.clock, retention: PhoneRetention(), randomness: SystemRandomness(),
          logger: log.logger)
      }
      let notice = Notice(.risk(.high))
      await notices().show(notice)
      let shown = await notices().shown
      let words = Catalogues.installed.words(for: notice.cause, in: .english)
      #expect(shown.map(\.title) == [words?.title] && shown.map(\.body) == [words?.body])
      #expect(shown.map(\.time) == [scene.clock.now])
      let lines = log.lines.filter { $0.contains("firebreak phone status") }
      #expect(lines.count == 1)
      // The log is not encrypted.
      #expect(!log.lines.contains { $0.contains("risk") || $0.contains("near") })
      await notices().remove(.risk)
      #expect(await notices().shown.isEmpty)
    }
  }
}
