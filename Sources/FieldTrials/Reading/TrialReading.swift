// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings
import World

/// A trial read from its files.
struct TrialReading {
  /// The trial, or nil if its information file is invalid.
  let trial: FieldTrial?
  /// The number of missing or damaged files, except logs of listed phones that exist but cannot be read.
  let unreadableFileCount: Int
  /// The logs that were read.
  let logsRead: [URL]

  init(_ information: URL, among files: TrialFiles) {
    guard let document = Self.decoded(InformationDocument.self, information),
      let start = LogTime(document.startTime), let stop = LogTime(document.stopTime),
      start.wallSeconds <= stop.wallSeconds
    else {
      (trial, unreadableFileCount, logsRead) = (nil, 1, [])
      return
    }
    let logs = files.logs(of: information)
    let setup = files.setup(of: information).flatMap { Self.decoded(SetupDocument.self, $0) }
    let phones = document.participants.compactMap { detail in
      Self.phone(detail, setup: setup?.phone(detail.phone), log: logs[detail.phone])
    }
    trial = FieldTrial(name: document.testId, start: start, stop: stop, phones: phones)
    logsRead = phones.compactMap { logs[$0.id] }
    let logsMissing = Set(document.details.map(\.phone)).count { logs[$0] == nil }
    unreadableFileCount = logsMissing + (setup == nil ? 1 : 0)
  }

  private static func phone(
    _ detail: InformationDocument.Detail, setup: SetupDocument.Phone?, log: URL?
  ) -> TrialPhone? {
    guard let labelled = TrialOutcome(rawValue: detail.exposure),
      let outcome = TrialOutcome(rawValue: detail.realExposure ?? detail.exposure),
      let content = log.flatMap({ TrialFiles.content(of: $0) })
    else { return nil }
    let log = PhoneLog(content)
    guard log.hasSections else { return nil }
    return TrialPhone(
      id: detail.phone, outcome: outcome, labelledOutcome: labelled,
      isIPhone: setup?.isIPhone ?? false,
      assumedTransmitPower: setup?.transmitPower.flatMap(Int8.init(exactly:)),
      clockOffset: setup?.timeOffset ?? 0, log: log)
  }

  private static func decoded<Document: Decodable>(_ type: Document.Type, _ file: URL) -> Document?
  {
    TrialFiles.content(of: file).flatMap { JSONDecoder().decodeIfValid(type, from: $0) }
  }
}

/// `TEST_info.json`.
struct InformationDocument: Decodable {
  /// One participant.
  struct Detail: Decodable {
    let phone: String
    let exposure: String
    /// The corrected exposure; absent if `exposure` is right.
    let realExposure: String?

    /// True if another row states the same label and the same alert.
    func agrees(with other: Detail) -> Bool {
      exposure == other.exposure
        && realExposure ?? exposure == other.realExposure ?? other.exposure
    }
  }

  let testId: String
  let startTime: String
  let stopTime: String
  let details: [Detail]

  /// The participants, each phone once. A phone that is listed with different alerts is absent.
  var participants: [Detail] {
    let rows = Dictionary(grouping: details, by: \.phone)
    var seen: Set<String> = []
    return details.filter { detail in
      rows[detail.phone]?.allSatisfy(detail.agrees) == true && seen.insert(detail.phone).inserted
    }
  }
}

/// `SETTING_setup.json`, as far as it affects the scores.
struct SetupDocument: Decodable {
  /// One phone.
  struct Phone: Decodable {
    let id: String
    let calibrationConfidence: String?
    let timeOffset: Double?
    let transmitPower: Int?

    private enum CodingKeys: String, CodingKey {
      case id
      case calibrationConfidence = "calconf"
      case timeOffset = "time_offset"
      case transmitPower = "tx"
    }

    /// Instead of a calibration confidence, iPhones have a letter.
    var isIPhone: Bool { calibrationConfidence == "i" }
  }

  let phones: [Phone]

  func phone(_ id: String) -> Phone? { phones.first { $0.id == id } }
}

/// The files of a folder, classified by their names.
struct TrialFiles {
  /// The `TEST_info.json` of each trial, in the order of their paths.
  let information: [URL]
  /// The number of files that do not belong to a trial.
  let ignored: Int
  /// The number of folders that may not be read.
  let foldersUnreadable: Int
  /// The number of logs, including those of phones that are not listed in a trial.
  var logCount: Int { logs.count }
  private let setups: [URL]
  private let logs: [URL]

  init(in folder: URL, filesMax: Int = FieldTrialLimit.files) throws(FieldTrialError) {
    let walk = try Self.walk(through: folder, max: filesMax)
    let files = walk.files.sorted { $0.path < $1.path }
    foldersUnreadable = walk.foldersUnreadable
    information = files.filter { $0.lastPathComponent.hasSuffix(Self.informationEnding) }
    setups = files.filter { $0.lastPathComponent.hasSuffix(Self.setupEnding) }
    logs = files.filter { $0.lastPathComponent.hasSuffix(Self.logEnding) }
    ignored = files.count - information.count - setups.count - logs.count
    guard !information.isEmpty else { throw .noTrials(folder.path) }
  }

  /// The setup beside the trial's folder, or in it.
  func setup(of information: URL) -> URL? {
    let trial = information.deletingLastPathComponent()
    let places = [trial.deletingLastPathComponent().path, trial.path]
    return setups.first { places.contains($0.deletingLastPathComponent().path) }
  }

  /// The logs in the trial's folder, by the id of the phone.
  func logs(of information: URL) -> [String: URL] {
    let trial = information.deletingLastPathComponent().path + "/"
    let own = logs.filter { $0.path.hasPrefix(trial) }
    return Dictionary(
      own.map { (String($0.lastPathComponent.dropLast(Self.logEnding.count)), $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The content of a file; nil if it cannot be read or is too large.
  static func content(of file: URL, bytesMax: Int = FieldTrialLimit.fileBytes) -> Data? {
    guard let content = FileHandle(forReadingAtPath: file.path)?.bytes(upTo: bytesMax + 1),
      content.count <= bytesMax
    else { return nil }
    return content
  }

  /// The endings of the names of files that belong to a trial.
  static let endings = [informationEnding, setupEnding, logEnding]
  static let informationEnding = "_info.json"
  private static let setupEnding = "_setup.json"
  private static let logEnding = "_dumpsys.txt"

  private static func walk(
    through folder: URL, max: Int
  ) throws(FieldTrialError) -> FolderWalk {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder) else {
      throw .noFolder(folder.path)
    }
    guard isFolder.boolValue else { throw .file(folder.path) }
    guard access(folder.path, R_OK | X_OK) == 0 else { throw .unreadable(folder.path) }
    var walk = FolderWalk(filesMax: max)
    guard walk.visit(folder) else { throw .tooManyFiles(folder.path) }
    return walk
  }
}

/// The files in a folder at any depth. Links are followed, as tools that keep large data sets use them for each file,
/// after everything else: a trial has its setup and its logs beside it, and not beside a link to it.
private struct FolderWalk {
  /// The identity of a file or folder on a disk.
  private struct Place: Hashable {
    let device: dev_t
    let number: ino_t
  }

  let filesMax: Int
  private(set) var files: [URL] = []
  private(set) var foldersUnreadable = 0
  /// The folders that were visited and the trials that were found. Links may lead to one twice, and to a folder around
  /// them. Setups and logs of several trials may be one file.
  private var visited: Set<Place> = []
  private var links: [URL] = []

  init(filesMax: Int) {
    self.filesMax = filesMax
  }

  /// Adds all files in a folder.
  ///
  /// - Returns: False if there are more than `filesMax` files.
  mutating func visit(_ folder: URL) -> Bool {
    links = [folder]
    var next = 0
    while next < links.count {
      guard add(links[next], isFollowed: true) else { return false }
      next += 1
    }
    return true
  }

  private mutating func add(_ url: URL, isFollowed: Bool = false) -> Bool {
    var status = stat()
    // A dangling link leads nowhere.
    guard (isFollowed ? stat(url.path, &status) : lstat(url.path, &status)) == 0 else {
      return true
    }
    let place = Place(device: status.st_dev, number: status.st_ino)
    switch status.st_mode & S_IFMT {
    case S_IFLNK: links.append(url)
    case S_IFREG:
      let isTrial = url.lastPathComponent.hasSuffix(TrialFiles.informationEnding)
      guard !isTrial || visited.insert(place).inserted else { return true }
      guard files.count < filesMax else { return false }
      files.append(url)
    case S_IFDIR: return !visited.insert(place).inserted || addFiles(in: url)
    default: break
    }
    return true
  }

  private mutating func addFiles(in folder: URL) -> Bool {
    if access(folder.path, R_OK | X_OK) != 0 { foldersUnreadable += 1 }
    return FileManager.default.names(in: folder).sorted()
      .allSatisfy { add(folder.appendingPathComponent($0, isDirectory: false)) }
  }
}
