// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import FieldTrials

@Suite("Field trials in a folder")
struct FieldTrialsTests {
  @Test("A trial is read with its phones, outcomes and counts")
  func reads() throws {
    let made = try SampleTrial()
    try made.write("README.md", "about")
    let trials = try FieldTrials(at: made.folder.url)
    let counts = trials.counts
    #expect(trials.trials.map(\.name) == ["room_1"])
    #expect(counts.phonesByOutcome == [.high: 1, .none: 1, .sick: 1])
    #expect(counts.phonesCompared == 2)
    #expect((counts.advertisements, counts.identifiersSeen) == (1, 4))
    #expect((counts.sightings, counts.samples) == (8, 10))
    #expect((counts.linesSkipped, counts.filesUnreadable, counts.filesIgnored) == (0, 0, 1))
  }

  @Test("A missing or empty folder, or a file, is rejected")
  func noFolder() throws {
    let folder = try TemporaryFolder()
    #expect(throws: FieldTrialError.noFolder(folder.path("none").path)) {
      try FieldTrials(at: folder.path("none"))
    }
    try Data().write(to: folder.path("file"))
    #expect(throws: FieldTrialError.file(folder.path("file").path)) {
      try FieldTrials(at: folder.path("file"))
    }
    #expect(throws: FieldTrialError.noTrials(folder.url.path)) { try FieldTrials(at: folder.url) }
  }

  @Test(
    "A trial with a damaged information file is skipped and counted; without another trial, reading fails",
    arguments: [
      "", "[]", "{\"testId\": \"a\"}", information(start: "x", stop: "2021-03-01T10:00:00-05"),
      information(start: "2021-03-01T10:00:01-05", stop: "2021-03-01T10:00:00-05"),
    ])
  func damagedInformation(text: String) throws {
    let made = try SampleTrial()
    try made.write("Room/room_2/room_2_info.json", text)
    let counts = try FieldTrials(at: made.folder.url).counts
    #expect((counts.trials, counts.filesUnreadable) == (1, 1))
    try made.write("Room/room_1/room_1_info.json", text)
    #expect(throws: FieldTrialError.noTrials(made.folder.url.path)) {
      try FieldTrials(at: made.folder.url)
    }
  }

  @Test("Logs that are missing, of unlisted phones or outside of a trial are counted")
  func amiss() throws {
    let made = try SampleTrial()
    try FileManager.default.removeItem(at: made.folder.path("Room/room_1/2021_03_01_room_1_02"))
    try made.log("07", "Sighting records:")
    try made.write("Elsewhere/01_dumpsys.txt", "")
    let trials = try FieldTrials(at: made.folder.url)
    #expect(trials.trials.first?.phones.map(\.id) == ["01", "99"])
    #expect(trials.counts.filesUnreadable == 3)
  }

  @Test("Links to the folder, to folders in it and to files are followed, each folder once")
  func links() throws {
    let made = try SampleTrial()
    let links = try TemporaryFolder()
    func link(_ name: String, to target: URL) throws -> URL {
      let url = links.path(name)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
      return url
    }
    let expected = try FieldTrials(at: made.folder.url).counts
    #expect(try FieldTrials(at: try link("all", to: made.folder.url)).counts == expected)
    for path in ["Room/room_setup.json", "Room/room_1/room_1_info.json"] {
      _ = try link("files/\(path)", to: made.folder.path(path))
    }
    for id in ["01", "02", "99"] {
      let path = "Room/room_1/2021_03_01_room_1_\(id)"
      _ = try link("files/\(path)", to: made.folder.path(path))
    }
    _ = try link("files/Room/back", to: links.path("files"))
    _ = try link("files/none_info.json", to: links.path("none"))
    #expect(try FieldTrials(at: links.path("files")).counts == expected)
    // Their names sort before the trial's own, which has its setup and logs beside it.
    for (name, path) in [
      ("Latest", "Room/room_1"), ("a_info.json", "Room/room_1/room_1_info.json"),
    ] {
      try FileManager.default.createSymbolicLink(
        at: made.folder.path(name), withDestinationURL: made.folder.path(path))
    }
    #expect(try FieldTrials(at: made.folder.url).counts == expected)
  }

  @Test("A phone that is listed twice counts once, and with different alerts not at all")
  func listedTwice() throws {
    func counts(_ alert: String) throws -> FieldTrialCounts {
      let made = try SampleTrial()
      let path = "Room/room_1/room_1_info.json"
      let text = try String(contentsOf: made.folder.path(path), encoding: .utf8)
      try made.write(
        path,
        text.replacing(
          "\"details\": [",
          with: "\"details\": [{\"phone\": \"01\", \"exposure\": \"\(alert)\"}, "))
      return try FieldTrials(at: made.folder.url).counts
    }
    let equal = try counts("high")
    #expect((equal.phones, equal.filesUnreadable) == (3, 0))
    #expect(equal.phonesByOutcome == [.high: 1, .none: 1, .sick: 1])
    let different = try counts("none")
    #expect((different.phones, different.filesUnreadable) == (2, 1))
    #expect(different.phonesByOutcome == [.none: 1, .sick: 1])
  }

  @Test("Two trials with the same logs count no log as unreadable")
  func sharedLogs() throws {
    let made = try SampleTrial()
    let text = try String(
      contentsOf: made.folder.path("Room/room_1/room_1_info.json"), encoding: .utf8)
    try made.write("Room/room_1/later_info.json", text)
    let counts = try FieldTrials(at: made.folder.url).counts
    #expect((counts.trials, counts.phones, counts.filesUnreadable) == (2, 6, 0))
  }

  @Test("A log in UTF-16 or with a byte order mark is read; one without sections is damaged")
  func encodings() throws {
    let made = try SampleTrial()
    let expected = try FieldTrials(at: made.folder.url)
    let log = made.folder.path("Room/room_1/2021_03_01_room_1_01/01_dumpsys.txt")
    // The mark is directly before the first section.
    let text = try String(contentsOf: log, encoding: .utf8).replacing("Some data\n\n", with: "")
    for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian] {
      try #require(("\u{FEFF}" + text).data(using: encoding)).write(to: log)
      let trials = try FieldTrials(at: made.folder.url)
      #expect(trials.counts == expected.counts)
      #expect(trials.trials.first?.phones.first?.log.receiverOffset == 3)
    }
    for content in [Data(), Data("no log".utf8)] {
      try content.write(to: log)
      let counts = try FieldTrials(at: made.folder.url).counts
      #expect((counts.phones, counts.filesUnreadable) == (2, 1))
    }
  }

  @Test("Without its setup a trial is read, with the transmit power of the log")
  func noSetup() throws {
    let made = try SampleTrial()
    try made.write("Room/room_setup.json", "{")
    let trials = try FieldTrials(at: made.folder.url)
    #expect(trials.counts.filesUnreadable == 1)
    let trial = try #require(trials.trials.first)
    let beacons = SentBeacons(of: trial, iPhonePower: .setup)
    #expect(beacons.usable.map(\.metadata.transmitPower) == [3])
  }

  @Test("Progress counts the trials")
  func progress() throws {
    let made = try SampleTrial()
    try made.write("Room/room_2/room_2_info.json", "")
    var steps: [[Int]] = []
    _ = try FieldTrials(at: made.folder.url) { steps.append([$0, $1]) }
    #expect(steps == [[1, 2], [2, 2]])
  }

  @Test("A file up to the limit is read, a larger one is not", arguments: [(9, 9), (10, 10)])
  func bytes(size: Int, read: Int) throws {
    let folder = try TemporaryFolder()
    try Data(repeating: 65, count: size).write(to: folder.path("a"))
    try Data(repeating: 65, count: 11).write(to: folder.path("b"))
    #expect(TrialFiles.content(of: folder.path("a"), bytesMax: 10)?.count == read)
    #expect(TrialFiles.content(of: folder.path("b"), bytesMax: 10) == nil)
    #expect(TrialFiles.content(of: folder.path("c"), bytesMax: 10) == nil)
  }

  @Test("A folder with more files than the limit is rejected")
  func files() throws {
    let made = try SampleTrial()  // five files
    #expect(throws: Never.self) { try TrialFiles(in: made.folder.url, filesMax: 6) }
    #expect(throws: Never.self) { try TrialFiles(in: made.folder.url, filesMax: 5) }
    #expect(throws: FieldTrialError.tooManyFiles(made.folder.url.path)) {
      try TrialFiles(in: made.folder.url, filesMax: 4)
    }
  }

  private static func information(start: String, stop: String) -> String {
    "{\"testId\":\"a\",\"startTime\":\"\(start)\",\"stopTime\":\"\(stop)\",\"details\":[]}"
  }
}
