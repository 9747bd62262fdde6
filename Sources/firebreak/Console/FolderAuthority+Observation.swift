// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Synchronization
import Terminal
import UploadToken
import VerificationAPI
import World

/// The facts that the console shows: the funnel from codes to keys, the exports, and the effect of a configuration.
extension FolderAuthority {
  /// The counts of the verification server, and the upload statistics of the key server, which are rounded and omit
  /// days with few uploads. If a server does not respond, its columns are empty.
  func funnel() async throws(AuthorityFailure) -> [FunnelDay] {
    // The columns of a server that does not respond are empty.
    let codes = try? await codesByDay()
    let published: [Int64: Int]?
    do throws(AuthorityFailure) { published = try await publishedByDay() } catch {
      // Without any counts, the page shows the reason.
      guard codes != nil else { throw error }
      published = nil
    }
    let uploads = await uploadsByDay()
    let days = Set(uploads.keys).union((codes ?? [:]).keys).union((published ?? [:]).keys)
    return days.sorted().map { day in
      FunnelDay(
        day: day, issued: codes.map { $0[day]?.codesIssued ?? 0 },
        redeemed: codes.map { $0[day]?.codesClaimed ?? 0 },
        redeemSeconds: codes?[day].map { Int($0.claimMeanSeconds) },
        uploads: uploads[day]?.publishRequests.total,
        uploadTime: uploads[day].flatMap {
          MedianTime(of: $0.tokenToUploadDistribution, limits: StatisticsDay.tokenToUploadMinutes)
        },
        fileTime: uploads[day].flatMap {
          MedianTime(of: $0.uploadToFileDistribution, limits: StatisticsDay.uploadToFileMinutes)
        },
        published: published.map { $0[day] ?? 0 })
    }
  }

  /// A day without codes is absent.
  private func codesByDay() async throws(AuthorityFailure)
    -> [Int64: CodeStatisticsResponse.Counts]
  {
    let days = try await codes.client().statistics()
    return Dictionary(days.compactMap { day in Self.start(of: day.date).map { ($0, day.data) } }) {
      $1
    }
  }

  /// The keys in the files of the first export. Other exports may have the same keys, so a sum would count them twice.
  private func publishedByDay() async throws(AuthorityFailure) -> [Int64: Int] {
    try await requireKeys()
    return try await reporting {
      let exports = try setup.keySettings().configuration.exports
      return exports.first.map { files.keysByDay(of: $0, in: folder.exports) } ?? [:]
    }
  }

  /// The start of a day such as `2027-01-15`, in Unix seconds.
  private static func start(of day: String) -> Int64? {
    let form = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
    // The day of a server that writes another form is left out.
    return (try? Date(day, strategy: form)).map(\.unixSecond)
  }

  private struct StatisticsClaims: Encodable {
    let iss: String
    let aud = "keyserver"
    let iat: Int64
    let exp: Int64
  }

  /// The statistics of uploads by day; none if the key server does not respond.
  private func uploadsByDay() async -> [Int64: StatisticsDay] {
    // The pages show everything else without them.
    (try? await requestUploadStatistics()) ?? [:]
  }

  private func requestUploadStatistics() async throws(AuthorityFailure) -> [Int64: StatisticsDay] {
    guard let keyServer,
      let url = Self.url(host: host, port: await keyServer.boundPort)
    else { return [:] }
    let token = try await reporting {
      guard let secrets = try VerificationSecrets.stored(in: folder) else {
        return nil as String?
      }
      let now = setup.clock.now
      let seconds = now.unixSecond
      return try CompactToken.text(
        StatisticsClaims(
          iss: try setup.keySettings().configuration.tokenIssuer, iat: seconds, exp: seconds + 60),
        signedBy: try secrets.tokenKeys.signing(at: now))
    }
    guard let token else { return [:] }
    let days = try await StatisticsClient(server: url, responseSeconds: codes.responseSeconds).days(
      token: token)
    return Dictionary(
      days.compactMap { day in
        Self.start(of: day.day).map { ($0, day) }
      }
    ) { $1 }
  }

  func exports() async throws(AuthorityFailure) -> [ExportFacts] {
    try await requireKeys()
    let counted = await uploadsByDay().values.flatMap(\.files)
    let padding = Dictionary(counted.map { ($0.name, $0.padding) }) { $1 }
    return try await reporting {
      let configuration = try setup.keySettings().configuration
      let keys = try AdministeredKeyServer.signingKeys(of: folder) ?? []
      return configuration.exports.map { export in
        files.facts(
          of: export, in: folder.exports, keys: keys, padding: padding, at: setup.clock.now)
      }
    }
  }

  func effect(
    of configuration: RemoteConfiguration
  ) async throws(AuthorityFailure) -> ConfigurationEffect {
    SimulatedContacts.lastWeek.effect(
      of: configuration.windowRiskConfiguration?.policy ?? .standard)
  }
}

/// Facts about key files for the console, cached until a file changes.
final class ExportFiles: Sendable {
  /// The number of files of an export that are shown: four days of hourly files.
  static let shownMax = 4 * 24
  /// The maximum age of shown files relative to the newest one, in seconds. Padding is shown from the third day on.
  static let shownSeconds: Int64 = 4 * 86_400
  /// The number of files of an export whose keys are counted: two weeks of hourly files.
  static let countedMax = 14 * 24
  private static let batchSize = 1_000

  private struct Cached {
    let version: FileVersion
    let facts: ExportFacts.File
  }

  private struct Counted {
    let version: FileVersion
    let keys: Int
  }

  private let cached = Mutex<[String: Cached]>([:])
  private let counted = Mutex<[String: Counted]>([:])

  /// An export with its newest files.
  ///
  /// - Parameter padding: The padding of files, by their line in the index.
  func facts(
    of export: ExportConfiguration, in folder: URL, keys: [SecretSigningKey],
    padding: [String: Int], at now: Date
  ) -> ExportFacts {
    let own = Self.folder(of: export, in: folder)
    let names = Self.names(in: own)
    let oldest = (names.last?.endTimestamp ?? 0) - Self.shownSeconds
    let newest = names.filter { $0.endTimestamp > oldest }.suffix(Self.shownMax).reversed()
    let publicKeys = keys.compactMap {
      // Files that only an unreadable key has signed are shown as not signed.
      try? VerificationPublicKey(
        keyID: $0.keyID, keyVersion: $0.keyVersion ?? "v1", publicKeyPEM: $0.publicKeyPEM)
    }
    let period = TimeInterval(export.periodSeconds)
    let next = ((now.timeIntervalSince1970 / period).rounded(.down) + 1) * period
    return ExportFacts(
      root: export.filenameRoot, region: export.region, periodSeconds: export.periodSeconds,
      keysMin: export.minimumKeys, nextFile: Date(timeIntervalSince1970: next),
      files: newest.compactMap { name in
        var file = file(name, at: own.appendingPathComponent(name.text), publicKeys)
        file?.padding = padding[KeyFileIndex.line(name, under: export.filenameRoot)]
        return file
      })
  }

  /// The number of keys in the newest files of an export, by the start of the day on which their period ends.
  func keysByDay(of export: ExportConfiguration, in folder: URL) -> [Int64: Int] {
    let own = Self.folder(of: export, in: folder)
    return Self.names(in: own).suffix(Self.countedMax).reduce(into: [:]) { keys, name in
      let url = own.appendingPathComponent(name.text)
      keys[name.endTimestamp / 86_400 * 86_400, default: 0] += keyCount(at: url) ?? 0
    }
  }

  /// The key file with a hash and its copies in all exports; empty if there is none.
  ///
  /// A copy has the same region and period, or shares a key: an export with another period or with keys of more regions
  /// has the keys in other files.
  func copies(
    of hash: KeyFileHash, among exports: [ExportConfiguration], in folder: URL
  ) -> [KeyFileCopy] {
    let all = exports.flatMap { export in
      let own = Self.folder(of: export, in: folder)
      return Self.names(in: own).reversed().map {
        StoredFile(export: export, name: $0, url: own.appendingPathComponent($0.text))
      }
    }
    guard let chosen = all.first(where: { KeyFileHash(ofFile: $0.url) == hash }) else { return [] }
    let keys = Set(chosen.keys)
    return all.filter { file in
      guard file.url != chosen.url, file.overlaps(chosen) else { return file.url == chosen.url }
      return file.isSamePeriod(chosen) || file.keys.contains(where: keys.contains)
    }.compactMap { file in
      guard let hash = KeyFileHash(ofFile: file.url) else { return nil }
      return KeyFileCopy(
        root: file.export.filenameRoot, region: file.export.region, name: file.name.text,
        keyCount: keyCount(at: file.url) ?? 0, hash: hash)
    }
  }

  /// A key file on disk.
  private struct StoredFile {
    let export: ExportConfiguration
    let name: KeyFileName
    let url: URL

    private var start: Int64 {
      name.startTimestamp ?? name.endTimestamp - Int64(export.periodSeconds)
    }

    func overlaps(_ other: Self) -> Bool {
      start < other.name.endTimestamp && other.start < name.endTimestamp
    }

    func isSamePeriod(_ other: Self) -> Bool {
      export.region == other.export.region && start == other.start
        && name.endTimestamp == other.name.endTimestamp
    }

    /// The keys; those up to the damage if the file is damaged.
    var keys: [TemporaryExposureKey] {
      var keys: [TemporaryExposureKey] = []
      // A damaged file is compared by the keys that can be read.
      _ = try? UnverifiedKeyFile(at: url).unverifiedKeys(batchSize: ExportFiles.batchSize) {
        keys += $0.keys.map(\.key)
      }
      return keys
    }
  }

  private func keyCount(at url: URL) -> Int? {
    guard let version = FileVersion(path: url.path) else { return nil }
    if let known = counted.withLock({ $0[url.path] }), known.version == version {
      return known.keys
    }
    // A file that is no key file has no number of keys.
    guard let keys = try? UnverifiedKeyFile(at: url).inspect().keyCount else { return nil }
    counted.withLock { $0[url.path] = Counted(version: version, keys: keys) }
    return keys
  }

  private static func folder(of export: ExportConfiguration, in folder: URL) -> URL {
    export.filenameRoot.isEmpty ? folder : folder.appendingPathComponent(export.filenameRoot)
  }

  /// Oldest first.
  private static func names(in folder: URL) -> [KeyFileName] {
    let names = FileManager.default.names(in: folder)
    return names.compactMap { KeyFileName($0) }.sorted()
  }

  private func file(
    _ name: KeyFileName, at url: URL, _ keys: [VerificationPublicKey]
  ) -> ExportFacts.File? {
    guard let version = FileVersion(path: url.path) else { return nil }
    if let known = cached.withLock({ $0[url.path] }), known.version == version {
      return known.facts
    }
    guard let hash = KeyFileHash(ofFile: url),
      let size = FileManager.default.attributes(of: url)?[.size] as? NSNumber,
      // A file that is no key file, or was removed meanwhile, is not listed.
      let inspected = try? UnverifiedKeyFile(at: url).inspect()
    else { return nil }
    // A file with a wrong signature, or without one by these keys, is listed as not signed.
    let verified = try? UnverifiedKeyFile(at: url).verified(by: keys, batchSize: Self.batchSize) {
      _ in
    }
    let facts = ExportFacts.File(
      name: name.text, bytes: size.intValue, keyCount: inspected.keyCount,
      isSigned: verified != nil, hash: hash, end: name.endTimestamp)
    cached.withLock { $0[url.path] = Cached(version: version, facts: facts) }
    return facts
  }
}

/// Contacts of simulated phones in one week, with which the console previews the effect of a configuration.
///
/// They are the same for every configuration: the distances and durations of meetings in a household, at work, in a
/// vehicle and in a queue, in fixed proportions. They are evaluated by the code of the app.
struct SimulatedContacts: Sendable {
  private let phones: [[RiskWindow]]

  static let lastWeek = SimulatedContacts(phoneCount: 300)

  /// The levels under `policy`.
  func effect(of policy: WindowRiskPolicy) -> ConfigurationEffect {
    let windows = phones.flatMap { $0 }.map { policy.risk(of: [$0]).days.first?.level }
    let days = phones.flatMap { phone in
      let levels = Dictionary(
        policy.risk(of: phone).days.map { ($0.date, $0.level) }, uniquingKeysWith: { $1 })
      return Set(phone.map(\.date)).map { levels[$0] ?? nil }
    }
    return ConfigurationEffect(windows: Self.levels(windows), days: Self.levels(days))
  }

  private static func levels(_ levels: [WindowRiskLevel?]) -> ConfigurationEffect.Levels {
    ConfigurationEffect.Levels(
      none: levels.count { $0 == nil }, low: levels.count { $0 == .low },
      high: levels.count { $0 == .high })
  }

  /// A kind of meeting: its attenuation in dB, its duration in minutes, and its share in percent.
  private struct Meeting {
    let attenuation: ClosedRange<Int>
    let minutes: ClosedRange<Int>
    let share: Int
  }

  private static let meetings = [
    // In a queue: near, for a few minutes.
    Meeting(attenuation: 52...70, minutes: 3...9, share: 45),
    // In a vehicle: near, for a while.
    Meeting(attenuation: 55...75, minutes: 8...30, share: 30),
    // At work: across a room, for long.
    Meeting(attenuation: 62...82, minutes: 20...90, share: 18),
    // In a household.
    Meeting(attenuation: 48...66, minutes: 30...180, share: 7),
  ]

  private static let scanMinutes = 4

  private init(phoneCount: Int) {
    var generator = Generator()
    phones = (0..<phoneCount).map { _ in
      (0..<7).flatMap { day in
        (0..<generator.number(in: 0...3)).map { _ in Self.window(day: day, &generator) }
      }
    }
  }

  private static func window(day: Int, _ generator: inout Generator) -> RiskWindow {
    var draw = generator.number(in: 1...100)
    let meeting = meetings.first { meeting in
      draw -= meeting.share
      return draw <= 0
    }
    let (attenuation, minutes) = (meeting?.attenuation ?? 60...60, meeting?.minutes ?? 5...5)
    let duration = generator.number(in: minutes)
    let scans = stride(from: 0, to: min(duration, 30), by: scanMinutes).map { _ in
      RiskWindow.Scan(
        minimumAttenuation: ENAttenuation(generator.number(in: attenuation)),
        seconds: scanMinutes * 60)
    }
    return RiskWindow(
      date: Date(unixDay: day),
      reportType: .confirmedTest,
      infectiousness: generator.number(in: 1...3) == 1 ? .high : .standard,
      calibrationConfidence: .high, scans: scans)
  }

  /// A linear congruential generator with a fixed seed (constants from Numerical Recipes).
  private struct Generator {
    private var state: UInt64 = 20_270_115

    mutating func number(in range: ClosedRange<Int>) -> Int {
      state = (state &* 1_664_525 &+ 1_013_904_223) & 0xFFFF_FFFF
      return range.lowerBound + Int(state >> 8) % range.count
    }
  }
}
