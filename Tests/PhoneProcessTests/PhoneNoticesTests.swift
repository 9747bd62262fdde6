// SPDX-License-Identifier: Apache-2.0
import DesktopNotifications
import Foundation
import Logging
import SealedStorage
import TestSupport
import Testing
import UnixSockets
import World

@testable import ExposureApp
@testable import PhoneProcess

@Suite("Notices of a phone and their history")
struct PhoneNoticesTests {
  private let temporary: TemporaryFolder
  private let folder: PhoneFolder
  private let key = SealingKey(from: SystemRandomness())
  private let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))

  init() throws {
    temporary = try TemporaryFolder()
    folder = try PhoneFolder(creating: temporary.path("phone").path)
  }

  private var preferences: PhonePreferences {
    PhonePreferences(in: folder, key: key, language: .english, randomness: SystemRandomness())
  }

  private func notices(
    _ preferences: PhonePreferences, desktop: DesktopNotifications? = nil
  ) -> PhoneNotices {
    PhoneNotices(
      in: folder, key: key, desktop: desktop, preferences: preferences, clock: clock,
      retention: PhoneRetention(), randomness: SystemRandomness(),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  private func notice(_ cause: Notice.Cause) -> Notice {
    Notice(cause)
  }

  @Test(
    "The history has stable IDs, survives a restart and keeps notices that are not shown any more")
  func history() async throws {
    let notices = notices(preferences)
    await notices.show(notice(.bluetoothOff))
    await notices.show(notice(.risk(.low)))
    await notices.remove(.bluetoothOff)
    await notices.show(notice(.risk(.high)))
    let history = await notices.history
    #expect(history.map(\.identifier) == ["bluetooth-off", "risk", "risk"])
    #expect(Set(history.map(\.id)).count == 3)
    #expect(await notices.shown == [try #require(history.last)])
    #expect(await self.notices(preferences).history == history)
  }

  @Test("The same notice again is one row, and a new cause is another")
  func repeated() async throws {
    let notices = notices(preferences)
    await notices.show(notice(.bluetoothOff))
    let first = await notices.history
    clock.advance(by: 86_400)
    await notices.show(notice(.bluetoothOff))
    #expect(await notices.history.map(\.id) == first.map(\.id))
    #expect(await notices.history.first?.time == clock.now)
    await notices.show(notice(.checksFailing(.diskFull)))
    await notices.show(notice(.checksFailing(.noConnection)))
    #expect(await notices.history.count == 3)
    #expect(await notices.shown.count == 2)
  }

  @Test("The same risk on another day is another row, and replaces the shown one")
  func anotherDay() async throws {
    let notices = notices(preferences)
    for day in [100, 100, 104] {
      var notice = notice(.risk(.high))
      notice.days = [day]
      await notices.show(notice)
      clock.advance(by: 86_400)
    }
    let history = await notices.history
    #expect(Set(history.map(\.id)).count == 2)
    #expect(await notices.shown == [try #require(history.last)])
  }

  @Test("Notices leave the history by their ID and after fourteen days, and shown ones stay shown")
  func removed() async throws {
    let notices = notices(preferences)
    await notices.show(notice(.risk(.medium)))
    clock.advance(by: 7 * 86_400)
    await notices.show(notice(.bluetoothOff))
    let ids = await notices.history.map(\.id)
    try await notices.removeFromHistory(ids: Set(ids.suffix(1).compactMap(UUID.init)))
    #expect(await notices.history.map(\.identifier) == ["risk"])
    #expect(await notices.shown.count == 2)
    clock.advance(by: 7 * 86_400 + 1)
    #expect(await notices.history.isEmpty)
    try await notices.removeAll()
    #expect(await notices.shown.isEmpty)
  }

  @Test("Texts are in the current language, also those of earlier notices")
  func language() async throws {
    let preferences = preferences
    let notices = notices(preferences)
    await notices.show(notice(.checksFailing(.diskFull)))
    let english = try #require(await notices.shown.first)
    try preferences.update { $0.language = .polish }
    let polish = try #require(await notices.shown.first)
    #expect(polish.title != english.title && polish.body != english.body)
    #expect(polish.body == Catalogues.installed.text(of: CheckFailure.diskFull, in: .polish))
    #expect(await notices.history == [polish])
  }

  @Test("With notifications off nothing reaches the desktop, and the notice is stored")
  func off() async throws {
    let path = temporary.path("bus").path
    let listener = try UnixListener(at: path)
    defer { listener.stop() }
    let bus = try #require(DBusAddress("unix:path=\(path)"))
    let preferences = preferences
    try preferences.update { $0.notifications = false }
    let notices = notices(
      preferences, desktop: DesktopNotifications(on: bus, callSeconds: Patience.seconds))
    await notices.show(notice(.bluetoothOff))
    #expect(await notices.shown.map(\.identifier) == ["bluetooth-off"])
    try preferences.update { $0.notifications = true }
    let showing = Task { await notices.show(notice(.risk(.high))) }
    var connections = listener.connections.makeAsyncIterator()
    let connection = try #require(await connections.next())
    try connection.send(
      Array("REJECTED\r\n".utf8), before: .now + .seconds(Patience.seconds))
    await showing.value
    listener.stop()
    #expect(await connections.next() == nil)
  }

  @Test("Preferences survive a restart, and removing them restores the language of the environment")
  func stored() throws {
    let first = preferences
    try first.update {
      $0.language = .ukrainian
      $0.hidesDetails = true
    }
    #expect(preferences.values == first.values)
    #expect(preferences.values.language == .ukrainian && preferences.values.hidesDetails)
    try first.removeAll()
    #expect(preferences.values == PhonePreferences.Values(language: .english))
    #expect(first.values == PhonePreferences.Values(language: .english))
  }
}
