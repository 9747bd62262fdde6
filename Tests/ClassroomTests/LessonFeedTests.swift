// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import TestSupport
import Testing

@testable import Classroom

@Suite("Streams of events", .timeLimit(.minutes(Patience.minutes))) struct LessonFeedTests {
  /// Reads a stream until it ends.
  private func events(of stream: AsyncStream<LessonFeed.Event>) async -> [LessonFeed.Event] {
    await stream.reduce(into: []) { $0.append($1) }
  }

  @Test("A phone has four streams and the teacher eight; for a further one the oldest ends")
  func limits() async {
    for (reader, countMax) in [(LessonFeed.Reader.phone(1), 4), (.teacher, 8)] {
      let feed = LessonFeed()
      let other = feed.subscribe(.phone(2)) {}
      var streams = (1...countMax).map { _ in feed.subscribe(reader) {} }
      #expect(feed.count == countMax + 1)
      streams.append(feed.subscribe(reader) {})
      #expect(feed.count == countMax + 1)
      #expect(await events(of: streams[0]) == [.changed])
      var second = streams[1].makeAsyncIterator()
      #expect(await second.next() == .changed)
      feed.send(.heartbeat)
      #expect(await second.next() == .heartbeat)
      withExtendedLifetime(other) {}
    }
  }

  @Test("A page that does not read has one waiting event, and a closed one is no longer connected")
  func slow() async {
    let feed = LessonFeed()
    let ended = AsyncStream.makeStream(of: Void.self)
    do {
      let stream = feed.subscribe(.phone(3)) { ended.continuation.finish() }
      for _ in 1...100 { feed.send(.changed) }
      #expect(feed.connectedPhones == [3])
      var iterator = stream.makeAsyncIterator()
      #expect(await iterator.next() == .changed)
    }
    for await _ in ended.stream {}
    #expect(feed.connectedPhones.isEmpty)
  }

  @Test("A heartbeat does not replace a change that the page has not read")
  func unreadChange() async {
    let feed = LessonFeed()
    var iterator = feed.subscribe(.phone(3)) {}.makeAsyncIterator()
    #expect(await iterator.next() == .changed)
    feed.send(.changed)
    feed.send(.heartbeat)
    #expect(await iterator.next() == .changed)
    feed.send(.heartbeat)
    feed.send(.changed)
    #expect(await iterator.next() == .changed)
  }

  @Test("Only pages whose content changed load again, and all pages when time passes")
  func changes() {
    var before = LessonState(start: Lesson.start, now: Lesson.start)
    before.phones = [PhoneView(number: 1), PhoneView(number: 2), PhoneView(number: 3)]
    var after = before
    after.phones[0].isConnected = true
    after.phones[1].noticeLevel = .high
    after.phones[2].outcome = .missed(.phoneOff)
    #expect(after.changedPhones(from: before) == [2])
    after.phones.append(PhoneView(number: 4))
    #expect(after.changedPhones(from: before) == [2, 4])
    after.now += 3_600
    #expect(after.changedPhones(from: before) == [1, 2, 3, 4])
  }

  @Test("All streams get a heartbeat every fifteen seconds, and end when the heartbeats end")
  func heartbeat() async throws {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_800_000_000))
    let feed = LessonFeed()
    let stream = feed.subscribe(.teacher) {}
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next() == .changed)
    let beating = Task { await feed.beat(clock: clock) }
    try await Patience.until { clock.sleeperCount == 1 }
    clock.advance(by: ClassLimit.heartbeatSeconds - 1)
    feed.send(.changed)
    #expect(await iterator.next() == .changed)
    clock.advance(by: 1)
    #expect(await iterator.next() == .heartbeat)
    beating.cancel()
    await beating.value
    #expect(await iterator.next() == nil)
    #expect(await events(of: feed.subscribe(.teacher) {}).count <= 1)
  }
}
