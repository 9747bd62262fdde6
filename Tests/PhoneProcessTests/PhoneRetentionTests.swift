// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import TestSupport
import Testing
import World

@testable import PhoneProcess

@Suite("The phone's own files while its clock jumps")
struct PhoneRetentionTests {
  private static let day: TimeInterval = 86_400

  private let scene: PhoneScene

  init() throws {
    scene = try PhoneScene()
  }

  /// Lets time pass in steps of half a day.
  private func pass(_ days: Int, _ phone: Phone) async {
    for _ in 0..<2 * days {
      scene.clock.advance(by: Self.day / 2)
      await phone.device.beat()
    }
  }

  /// Stores a stay, a notice and messages.
  private func store(_ region: String, _ cause: Notice.Cause, _ phone: Phone) async throws {
    await phone.device.beat()
    try phone.travel.record(region)
    await phone.notices.show(Notice(cause))
    _ = await phone.perform(PhoneRequest(.check))
  }

  @Test("A clock that jumps by weeks and back removes no stay, no notice and no message")
  func jump() async throws {
    let phone = try scene.phone()
    await phone.start()
    #expect(try await phone.facts(.enable).status == .done)
    await pass(2, phone)
    try await store("DE", .bluetoothOff, phone)
    let notice = try #require(await phone.history().notices.last?.id)
    let messages = Set(await phone.messages.rows.map(\.id))
    #expect(!messages.isEmpty)
    for days in [20.0, -20] {
      scene.clock.jump(by: days * Self.day)
      try await store("FR", .permissionLost, phone)
      scene.clock.jump(by: -days * Self.day)
      try await store("CZ", .checksFailing(.noConnection), phone)
      #expect(try phone.travel.regions().map(\.region).contains("DE"))
      #expect(await phone.history().notices.map(\.id).contains(notice))
      #expect(messages.isSubset(of: await phone.messages.rows.map(\.id)))
    }
    // They still expire, and so do those of the wrong times.
    await pass(15, phone)
    try await store("PL", .uploadFinished, phone)
    #expect(try phone.travel.regions().map(\.region) == ["PL"])
    #expect(await !phone.history().notices.map(\.id).contains(notice))
    #expect(messages.isDisjoint(with: await phone.messages.rows.map(\.id)))
    #expect(await phone.messages.rows.allSatisfy { $0.time == scene.clock.now })
  }

  @Test("Stays and notices of a phone that gets no others are removed after fourteen days, twice")
  func expired() async throws {
    let phone = try scene.phone()
    await phone.start()
    #expect(try await phone.facts(.enable).status == .done)
    await pass(2, phone)
    func sizes() throws -> [Int] {
      try [phone.folder.travel, phone.folder.notices].map { try Data(contentsOf: $0).count }
    }
    for _ in 1...2 {
      try await store("DE", .uploadUnfinished, phone)
      await phone.notices.remove(.upload)
      let before = try sizes()
      await pass(13, phone)
      _ = await phone.perform(PhoneRequest(.status))
      #expect(try sizes() == before)
      await pass(2, phone)
      _ = await phone.perform(PhoneRequest(.status))
      #expect(zip(try sizes(), before).allSatisfy { $0 < $1 })
      #expect(try phone.travel.regions().isEmpty)
    }
  }

  @Test("A day of beacons is counted while the clock is years ahead, and after that")
  func beacons() async throws {
    let phone = try scene.phone()
    await phone.start()
    await pass(2, phone)
    await phone.messages.countBeacon()
    let sent = await phone.messages.sentBeacons
    #expect(sent.values.map(\.self) == [1])
    scene.clock.jump(by: 730 * Self.day)
    await phone.device.beat()
    await phone.messages.countBeacon()
    #expect(await phone.messages.sentBeacons.count == 2)
    scene.clock.jump(by: -730 * Self.day)
    await phone.device.beat()
    await phone.messages.countBeacon()
    #expect(await phone.messages.sentBeacons.values.map(\.self) == [2])
  }

  @Test("An upload previews no day of the future as one of a wrong clock")
  func previewedDays() async throws {
    let phone = try scene.phone()
    await phone.start()
    #expect(try await phone.facts(.enable).status == .done)
    await pass(1, phone)
    // Keys of a wrong day and of the future.
    for days in [-3.0, 40] {
      scene.server.setPhoneClock(ahead: days * Self.day)
      await phone.device.beat()
      _ = await phone.perform(PhoneRequest(.check))
      await pass(1, phone)
      _ = await phone.perform(PhoneRequest(.check))
      scene.server.setPhoneClock(ahead: -days * Self.day)
      _ = await phone.perform(PhoneRequest(.check))
      await pass(1, phone)
    }
    let preview = try await phone.uploadPreview(.notStated, pin: nil)
    let today = UTCDay(of: scene.clock.now).description
    #expect(!preview.keys.isEmpty && !preview.withheldDays.isEmpty)
    #expect(preview.withheldDays.allSatisfy { $0 <= today })
    #expect(Set(preview.withheldDays).isDisjoint(with: preview.keys.map(\.day)))
  }
}
