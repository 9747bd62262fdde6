import App
import DiagnosisKeyFile
import ExposureKeys
import Foundation

/// A health authority in a folder: codes, keys, and signed key files. Stands for the two servers of
/// Firebreak, which do all of this over HTTP, with two databases and much more care.
final class LocalServer {
  /// Region and key id of its files.
  static let region = (name: "PL", keyID: "260", keyVersion: "v1")

  private struct Book: Codable {
    /// Whether each code has been used.
    var codes: [String: Bool] = [:]
    /// Keys that wait for their day to be over: until then they could be sent by somebody else.
    var waiting: [PublishedKey] = []
    /// Those of all files.
    var published: [PublishedKey] = []
    var fileCount = 0
  }

  private let folder: URL
  private let signer: KeyFileSigner
  private let now: () -> Date
  private var book: Book

  /// The authority in `folder`, which it makes on the first day, with a key of its own.
  init(in folder: URL, now: @escaping () -> Date) throws {
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("files"), withIntermediateDirectories: true)
    self.folder = folder
    self.now = now
    signer = try AuthorityKey.signer(in: folder)
    let stored = try? Data(contentsOf: folder.appendingPathComponent("book.json"))
    book = try stored.map { try JSONDecoder().decode(Book.self, from: $0) } ?? Book()
    try publishDueKeys()
  }

  /// A new code for one positive test.
  func issueCode() throws -> String {
    let code = (0..<6).map { _ in String(Int.random(in: 0...9)) }.joined()
    book.codes[code] = false
    try save()
    return code
  }

  /// When each published key began to be used.
  var publishedDays: [Date] { book.published.map { Self.interval($0).date } }

  /// Forgets all keys and files.
  func removeKeys() throws {
    for number in 1..<(book.fileCount + 1) {
      try? FileManager.default.removeItem(at: file(number))
    }
    book = Book(codes: book.codes)
    try save()
  }

  func isUnused(_ code: String) -> Bool { book.codes[code] == false }

  /// Takes keys in, once each, and uses the code up.
  func take(_ keys: [PublishedKey], code: String) throws {
    guard isUnused(code) else { throw LocalServerError.codeNotValid }
    for key in keys where !(book.waiting + book.published).contains(key) {
      book.waiting.append(key)
    }
    book.codes[code] = true
    try save()
  }

  func fileNumbers(from number: Int) -> [Int] {
    Array((1..<(book.fileCount + 1)).drop { $0 < number })
  }

  /// A copy of one file, for the app to delete.
  func copy(ofFile number: Int) throws -> URL {
    guard fileNumbers(from: 1).contains(number) else { throw LocalServerError.noSuchFile }
    let copy = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).zip")
    try FileManager.default.copyItem(at: file(number), to: copy)
    return copy
  }

  /// Writes one signed file with the keys that nobody can send any more: two hours after their end.
  private func publishDueKeys() throws {
    let due = book.waiting.filter {
      let end = Double($0.rollingStartNumber + $0.rollingPeriod) * IntervalNumber.seconds
      return end + 7_200 <= now().timeIntervalSince1970
    }
    let keys = due.compactMap(Self.diagnosisKey)
    guard !keys.isEmpty else { return }
    let end = UInt64(now().timeIntervalSince1970)
    try KeyFileWriter.write(
      to: file(book.fileCount + 1), start: end - 86_400, end: end, region: Self.region.name,
      keys: keys.sorted(by: DiagnosisKey.inFileOrder), signers: [signer])
    book.waiting.removeAll(where: due.contains)
    book.published += due
    book.fileCount += 1
    try save()
  }

  private func file(_ number: Int) -> URL {
    folder.appendingPathComponent("files/\(number).zip")
  }

  private func save() throws {
    let data = try JSONEncoder().encode(book)
    try data.write(to: folder.appendingPathComponent("book.json"), options: .atomic)
  }

  private static func interval(_ key: PublishedKey) -> IntervalNumber {
    IntervalNumber(rawValue: key.rollingStartNumber)
  }

  /// Nil where the app has sent what is no key.
  private static func diagnosisKey(_ key: PublishedKey) -> DiagnosisKey? {
    TemporaryExposureKey(
      bytes: key.keyData, rollingStart: interval(key), rollingPeriod: key.rollingPeriod
    ).flatMap {
      DiagnosisKey(
        key: $0, transmissionRiskLevel: key.transmissionRiskLevel, reportType: .confirmedTest)
    }
  }
}
