import Foundation
import GRDB
import VerificationAPI

/// An issued code as SQLite keeps it, whatever its spellings. Times are whole Unix seconds, days are
/// counted from 1970.
struct IssueRow: Codable, FetchableRecord, MutablePersistableRecord, Sendable {
  static let databaseTableName = "issue"

  var id: Int64?
  var handle: Data?
  var issuer: String?
  var testType: String
  var symptomDay: Int?
  var testDay: Int?
  var nonceMark: Data?
  var phoneMark: Data?
  var expiresAt: Int64
  var longExpiresAt: Int64
  var endsAt: Int64
  var binding: Data?
  var sealedToken: Data?
  var tokenMark: Data?

  /// The row of a code that has not been used.
  init(_ code: IssuedCode) {
    handle = code.handle.map(\.data)
    issuer = code.issuer?.text
    testType = code.finding.testType.rawValue
    symptomDay = code.finding.symptomDay?.number
    testDay = code.finding.testDay?.number
    nonceMark = code.nonceMark
    phoneMark = code.phoneMark
    expiresAt = code.expiresAt.unixSecond
    longExpiresAt = code.longExpiresAt.unixSecond
    endsAt = max(expiresAt, longExpiresAt)
  }

  mutating func didInsert(_ inserted: InsertionSuccess) {
    id = inserted.rowID
  }

  /// What was found; a kind of test that this version does not know reads as a positive test would not:
  /// as nothing.
  var finding: Finding? {
    TestType(rawValue: testType).map {
      Finding(
        testType: $0, symptomDay: symptomDay.map { CalendarDay(number: $0) },
        testDay: testDay.map { CalendarDay(number: $0) })
    }
  }

  /// How the code was used up, where it was.
  var redemption: Redemption? {
    get {
      guard let binding, let sealedToken else { return nil }
      return Redemption(
        binding: binding, sealedToken: SealedToken(bytes: sealedToken), tokenMark: tokenMark)
    }
    set {
      binding = newValue?.binding
      sealedToken = newValue?.sealedToken.bytes
      tokenMark = newValue?.tokenMark
    }
  }

  /// What became of it. Only its ends are ever set.
  var fate: CodeFate {
    get {
      CodeFate(
        isClaimed: binding != nil, expiresAt: Date(unixSecond: expiresAt),
        longExpiresAt: Date(unixSecond: longExpiresAt), issuer: issuer.map { ApiKeyID(text: $0) })
    }
    set {
      expiresAt = newValue.expiresAt.unixSecond
      longExpiresAt = newValue.longExpiresAt.unixSecond
    }
  }

  /// The row of that handle.
  static func of(_ handle: UUID, in database: Database) throws -> IssueRow? {
    try filter(Column("handle") == handle.data).fetchOne(database)
  }
}

extension UUID {
  /// Its sixteen bytes.
  fileprivate var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}
