// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import Secrets
import TestSupport
import Testing
import World

@testable import PhoneProcess

@Suite("The keys of the days after an upload on a phone")
struct PhoneFollowingDaysTests {
  private static let tokenPath = "getAccessToken"
  private static let uploadPath = "uploadDiagnosisKeys"

  private let scene: PhoneScene

  init() throws {
    scene = try PhoneScene()
  }

  /// Starts the phone again; each start is a restart.
  private func started() async throws -> Phone {
    let phone = try scene.phone()
    await phone.start()
    return phone
  }

  /// A phone that has been on for two days and has shared its keys.
  private func uploaded() async throws -> Phone {
    let phone = try await started()
    #expect(try await phone.facts(.enable).status == .done)
    try await nextMorning(phone)
    scene.server.publish(
      #"{"result":{"accessToken":"eyJ.t.s","followUp":"permit"}}"#, at: Self.tokenPath)
    scene.server.publish(#"{"result":""}"#, at: Self.uploadPath)
    let request = PhoneRequest(
      .upload(sharesAbroad: false), pin: ZeroingBytes(copying: "AB2-CD3".utf8))
    #expect(await phone.perform(request).status == .done)
    return phone
  }

  /// Waits until seven o'clock (UTC) of the next day and checks.
  private func nextMorning(_ phone: Phone) async throws {
    let now = scene.clock.now
    let next = Date(unixDay: now.unixDay + 1).addingTimeInterval(7 * 3_600)
    scene.clock.advance(by: next.timeIntervalSince(now))
    try scene.publishConfiguration(version: next.unixDay)
    await phone.device.beat()
    _ = await phone.perform(PhoneRequest(.check))
  }

  private var uploadCount: Int { scene.server.requests(for: Self.uploadPath).count }

  private func status(_ phone: Phone) async -> String? {
    await phone.state().followingDays?.status.rawValue
  }

  @Test("After the owner's command each day is shared once, without another command, until the end")
  func sharedByItself() async throws {
    let first = try await uploaded()
    #expect(uploadCount == 1)
    #expect(await status(first) == "offered")
    try await nextMorning(first)
    #expect(uploadCount == 1)
    let reply = await first.perform(PhoneRequest(.followingDays(.share)))
    #expect(reply.status == .done && reply.text.contains("share-following-days --end"))
    // The key of the day of the upload.
    _ = await first.perform(PhoneRequest(.check))
    #expect(uploadCount == 2)
    let second = try await started()
    try await nextMorning(second)
    _ = await second.perform(PhoneRequest(.check))
    #expect(uploadCount == 3)
    let state = await second.state()
    #expect(state.followingDays?.status == .active)
    #expect(state.reply.text.contains("Following days: the keys of each day until 2020-10-26 UTC"))
    let history = await second.history()
    #expect(history.shared.count == 3)
    #expect(history.reply.text.contains("Following days:"))
    #expect(await second.perform(PhoneRequest(.followingDays(.end))).status == .done)
    let third = try await started()
    try await nextMorning(third)
    #expect(uploadCount == 3)
    #expect(await status(third) == "ended")
    #expect(await third.perform(PhoneRequest(.followingDays(.share))).status == .badInput)
    #expect(await third.perform(PhoneRequest(.followingDays(.end))).status == .badInput)
  }

  @Test("The removal of everything ends the sharing; the next owner of the phone shares nothing")
  func removal() async throws {
    let phone = try await uploaded()
    #expect(await phone.perform(PhoneRequest(.followingDays(.share))).status == .done)
    #expect(await phone.perform(PhoneRequest(.remove(.everything))).status == .done)
    #expect(await status(phone) == nil)
    let next = try await started()
    #expect(try await next.facts(.enable).status == .done)
    try await nextMorning(next)
    try await nextMorning(next)
    #expect(uploadCount == 1)
    #expect(await next.perform(PhoneRequest(.followingDays(.share))).status == .badInput)
  }

  @Test("The sharing goes on after the phone was moved to another folder")
  func moved() async throws {
    let phone = try await uploaded()
    #expect(await phone.perform(PhoneRequest(.followingDays(.share))).status == .done)
    try await nextMorning(phone)
    #expect(uploadCount == 2)
    let place = try TemporaryFolder()
    for name in ["new", "newer"] {
      let from = name == "new" ? scene.folder.url : place.path("new")
      let old = try PhoneFolder(existing: from.path, mayBeMoved: true)
      try PhoneMove(of: old, to: place.path(name).path).run()
      let moved = try scene.phone(in: try PhoneFolder(existing: place.path(name).path))
      await moved.start()
      #expect(await status(moved) == "active")
      let before = uploadCount
      for _ in 1...2 { _ = await moved.perform(PhoneRequest(.check)) }
      #expect(uploadCount == before)
      try await nextMorning(moved)
      #expect(uploadCount == before + 1)
      #expect(await moved.history().shared.count == before + 1)
    }
  }

  @Test("A failure is told with its cause until a later attempt of the day succeeds")
  func failures() async throws {
    let phone = try await uploaded()
    #expect(await phone.perform(PhoneRequest(.followingDays(.share))).status == .done)
    scene.server.publish("<html>Sign in</html>", at: Self.tokenPath)
    try await nextMorning(phone)
    let state = await phone.state()
    #expect(state.followingDays?.failure == "serverBusy")
    #expect(state.reply.text.contains("The server is busy"))
    #expect(uploadCount == 1)
    scene.server.publish(#"{"result":{"accessToken":"eyJ.t.s"}}"#, at: Self.tokenPath)
    scene.clock.advance(by: 3_600)
    _ = await phone.perform(PhoneRequest(.check))
    #expect(uploadCount == 2)
    #expect(await phone.state().followingDays?.failure == nil)
  }

  @Test("The texts of notice and failures are in all languages", arguments: Language.allCases)
  func texts(_ language: Language) throws {
    let words = try #require(
      Catalogues.installed.words(for: .followingDaysRefused, in: language))
    #expect(!words.title.isEmpty && !words.body.isEmpty)
    let catalogue = try #require(Catalogues.installed[language])
    for status in FollowUp.Status.allCases {
      #expect(catalogue.text("days.\(status.rawValue)") != nil)
    }
    #expect(catalogue.text("failure.days.other") != nil)
  }
}
