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
