// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Testing

@testable import ExposureApp

/// The files that a phone with periods of four hours chooses.
@Suite("Roll-ups")
struct RollUpTests {
  private static let hour: Int64 = 3_600
  /// A midnight with which a period of 48 hours begins.
  private static let start: Int64 = 1_600_041_600 / 172_800 * 172_800

  /// The files with periods of `hours` in the index of a server at `now`.
  private static func listed(_ hours: Int, at now: Int64) -> [KeyFileName] {
    let length = Int64(hours) * hour
    let oldest = now - 14 * 24 * hour
    return stride(from: oldest / length * length, through: now - length, by: Int(length))
      .compactMap { KeyFileName(start: $0, end: $0 + length) }
      .filter { $0.endTimestamp > oldest }
  }

  private static func rollUps(at now: Int64) -> [String: [KeyFileName]] {
    Dictionary(
      uniqueKeysWithValues: KeyServerRoute.rollUpHours.map {
        (KeyServerRoute.rollUpRoot(hours: $0), listed($0, at: now))
      })
  }

  /// The cursor of a phone that was off for `hours` until `now`.
  private static func cursor(
    off hours: Int, at now: Int64, period: Int = 4
  ) -> DownloadCursor {
    let oldest = Date(timeIntervalSince1970: Double(now - 14 * 24 * hour))
    let before = now - Int64(hours) * hour
    var cursor = DownloadCursor()
    cursor.beginReceiving(at: Date(timeIntervalSince1970: Double(before - 40 * 24 * hour)))
    cursor.note([], at: oldest, after: .distantPast)
    let earlier = listed(period, at: before)
    cursor.note(
      earlier, at: Date(timeIntervalSince1970: Double(before)),
      after: Date(timeIntervalSince1970: Double(before - 14 * 24 * hour)))
    cursor.finish(
      analysed: earlier, missing: [],
      after: Date(timeIntervalSince1970: Double(before - 14 * 24 * hour)))
    cursor.note(
      listed(period, at: now), at: Date(timeIntervalSince1970: Double(now)), after: oldest)
    return cursor
  }

  private static func periods(_ names: [KeyFileName]) -> [Range<Int64>] {
    names.compactMap { name in name.startTimestamp.map { $0..<name.endTimestamp } }
      .sorted { $0.lowerBound < $1.lowerBound }
  }

  @Test(
    "A phone that was off for any time downloads at most 14 files, with each key once and none missing",
    arguments: 0..<12)
  func all(step: Int) {
    let now = Self.start + 20 * 48 * Self.hour + Int64(step) * 4 * Self.hour
    for hours in stride(from: 4, through: 400, by: 4) {
      let cursor = Self.cursor(off: hours, at: now)
      let wanted = cursor.pending
      let chosen = RollUp.choices(insteadOf: wanted, among: Self.rollUps(at: now), cursor)
      let covered = Set(chosen.flatMap(\.covered))
      let files = chosen.flatMap(\.names) + wanted.filter { !covered.contains($0) }
      #expect(files.count <= 14, "\(hours) hours: \(files.count) files")
      let periods = Self.periods(files)
      for (one, next) in zip(periods, periods.dropFirst()) {
        #expect(one.upperBound == next.lowerBound, "\(hours) hours")
      }
      #expect(periods.last?.upperBound == now)
      let first = Self.periods(wanted).first?.lowerBound ?? now
      #expect((periods.first?.lowerBound ?? now) <= first)
      #expect((periods.first?.lowerBound ?? now) >= now - Int64(hours) * Self.hour)
    }
  }

  @Test("With periods of an hour too, all keys are downloaded once", arguments: [120, 230, 336])
  func hourly(hours: Int) {
    let now = Self.start + 20 * 48 * Self.hour + 7 * Self.hour
    let date = Date(timeIntervalSince1970: Double(now))
    var cursor = Self.cursor(off: hours, at: now, period: 1)
    let single = DownloadPlan(cursor.pending(at: date), insteadBy: [], cursor)
    #expect(single.names.count == DownloadLimit.filesPerRun)
    var files: [KeyFileName] = []
    for _ in 0..<4 {
      let wanted = cursor.pending(at: date)
      let chosen = RollUp.choices(insteadOf: wanted, among: Self.rollUps(at: now), cursor)
      let plan = DownloadPlan(wanted, insteadBy: chosen, cursor)
      files += plan.names
      cursor.finish(analysed: plan.names, missing: [], after: .distantPast)
      cursor.finish(chosen, missing: [], unusable: [], hashes: [:], after: .distantPast)
    }
    #expect(cursor.isComplete && files.count < 40)
    let periods = Self.periods(files)
    for (one, next) in zip(periods, periods.dropFirst()) {
      #expect(one.upperBound == next.lowerBound)
    }
    #expect(periods.first?.lowerBound == now - Int64(hours) * Self.hour)
    #expect(periods.last?.upperBound == now)
  }

  @Test("A roll-up that covers an analysed file, or could not be used before, is not chosen")
  func refused() {
    let now = Self.start + 20 * 48 * Self.hour
    var cursor = Self.cursor(off: 24, at: now)
    cursor.finish(analysed: [cursor.pending[1]], missing: [], after: .distantPast)
    let wanted = cursor.pending
    let chosen = RollUp.choices(insteadOf: wanted, among: Self.rollUps(at: now), cursor)
    #expect(chosen.map(\.root) == [KeyServerRoute.rollUpRoot(hours: 12)])
    #expect(chosen.first?.covered == Array(wanted.suffix(3)))
    let names = Set(chosen[0].names.map(\.text))
    cursor.finish(chosen, missing: names, unusable: [], hashes: [:], after: .distantPast)
    #expect(!RollUp.choices(insteadOf: wanted, among: Self.rollUps(at: now), cursor).isEmpty)
    cursor.finish(chosen, missing: names, unusable: [], hashes: [:], after: .distantPast)
    #expect(RollUp.choices(insteadOf: wanted, among: Self.rollUps(at: now), cursor).isEmpty)
    #expect(cursor.pending == wanted)
  }

  @Test("The files that an analysed roll-up covers are not wanted any more")
  func analysed() {
    let now = Self.start + 20 * 48 * Self.hour
    var cursor = Self.cursor(off: 48, at: now)
    let chosen = RollUp.choices(insteadOf: cursor.pending, among: Self.rollUps(at: now), cursor)
    #expect(chosen.map(\.root) == [KeyServerRoute.rollUpRoot(hours: 48)])
    cursor.finish(analysed: chosen[0].names, missing: [], after: .distantPast)
    #expect(!cursor.isComplete)
    cursor.finish(chosen, missing: [], unusable: [], hashes: [:], after: .distantPast)
    #expect(cursor.isComplete)
  }

  @Test("Files of an undone roll-up are wanted if the index lists them")
  func unlisted() {
    let now = Self.start + 20 * 48 * Self.hour
    let date = Date(timeIntervalSince1970: Double(now))
    var cursor = Self.cursor(off: 48, at: now)
    let files = cursor.pending
    let chosen = RollUp.choices(insteadOf: files, among: Self.rollUps(at: now), cursor)
    cursor.finish(analysed: chosen[0].names, missing: [], after: .distantPast)
    cursor.finish(chosen, missing: [], unusable: [], hashes: [:], after: .distantPast)
    cursor.indexVersion = ResponseVersion(entityTag: "1", lastModified: nil)
    cursor.wantAgain(Set(chosen[0].names.map(\.text)))
    #expect(cursor.indexVersion == nil && cursor.isUndoing)
    cursor.note([], at: date, after: .distantPast)
    #expect(cursor.pending == files)
    let listed = Self.listed(4, at: now)
    cursor.note(listed.filter { $0 != files[3] }, at: date, after: .distantPast)
    #expect(cursor.pending == files.filter { $0 != files[3] })
    cursor.note(listed, at: date, after: .distantPast)
    #expect(cursor.pending == files)
  }

  @Test("A roll-up that the framework refuses is not chosen again, and its files are still wanted")
  func unusable() {
    let now = Self.start + 20 * 48 * Self.hour
    var cursor = Self.cursor(off: 48, at: now)
    let wanted = cursor.pending
    let chosen = RollUp.choices(insteadOf: wanted, among: Self.rollUps(at: now), cursor)
    cursor.finish(
      chosen, missing: [], unusable: Set(chosen[0].names.map(\.text)), hashes: [:],
      after: .distantPast)
    #expect(cursor.pending == wanted)
    let again = RollUp.choices(insteadOf: wanted, among: Self.rollUps(at: now), cursor)
    #expect(again.map(\.root) == Array(repeating: KeyServerRoute.rollUpRoot(hours: 24), count: 2))
  }

  @Test("A roll-up in several files is used as a whole, and first if a part of it was analysed")
  func parts() throws {
    let now = Self.start + 20 * 48 * Self.hour
    var cursor = Self.cursor(off: 24, at: now)
    let root = KeyServerRoute.rollUpRoot(hours: 24)
    let day = now - 24 * Self.hour
    let parts = try [0, 1].map { try #require(KeyFileName(start: day, end: now + $0)) }
    let chosen = RollUp.choices(insteadOf: cursor.pending, among: [root: parts], cursor)
    #expect(chosen.first?.names == parts)
    cursor.finish(analysed: [parts[0]], missing: [], after: .distantPast)
    cursor.finish(chosen, missing: [], unusable: [], hashes: [:], after: .distantPast)
    let half = try #require(KeyFileName(start: day, end: day + 12 * Self.hour))
    let again = RollUp.choices(
      insteadOf: cursor.pending,
      among: [root: parts, KeyServerRoute.rollUpRoot(hours: 12): [half]], cursor)
    #expect(again.map(\.names) == [parts])
  }
}
