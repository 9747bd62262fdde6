// SPDX-License-Identifier: Apache-2.0
import Secrets
import UploadToken

/// The payload of `VerificationRoute.accessToken`: exchanges a PIN for an upload token.
public struct AccessTokenRequest: Codable, Sendable, Hashable, Redacted {
  /// The PIN as the user typed it.
  public var code: String?
  /// Base64 of the HMAC-SHA256 over the keys to be uploaded, 32 bytes; the token is bound to it.
  public var ekeyhmac: String?

  /// Creates a request for the token of `code`, bound to the keys of `ekeyhmac`.
  public init(code: String?, ekeyhmac: String? = nil) {
    self.code = code
    self.ekeyhmac = ekeyhmac
  }
}

/// The result of `AccessTokenRequest`.
public struct AccessTokenResponse: Codable, Sendable, Hashable, Redacted {
  /// The upload token, a compact JSON Web Token.
  public var accessToken: String

  /// Creates a result with `accessToken`.
  public init(accessToken: String) {
    self.accessToken = accessToken
  }

  /// The token before its signature is verified.
  public var token: UnverifiedUploadToken { UnverifiedUploadToken(accessToken) }
}

/// The payload of `VerificationRoute.generateCode`; the result is a PIN.
public struct GenerateCodeRequest: Codable, Sendable, Hashable {
  /// The kind of test: `confirmed` or absent, which means the same.
  public var testType: String?
  /// The day on which symptoms began, `YYYY-MM-DD` in UTC, if known.
  public var symptomDate: String?

  /// Creates a request for a PIN.
  public init(testType: String? = nil, symptomDate: String? = nil) {
    self.testType = testType
    self.symptomDate = symptomDate
  }
}

/// The payload of `VerificationRoute.generateCodesBatch`; the result is a list of PINs.
public struct GenerateCodesBatchRequest: Codable, Sendable, Hashable {
  /// The lifetime of the codes, in seconds: 1800, or whole hours up to a day.
  public var duration: Int?
  /// The number of codes, 1 to 1000.
  public var numberOfCodes: Int?

  /// Creates a request for `numberOfCodes` codes that expire after `duration` seconds.
  public init(duration: Int?, numberOfCodes: Int?) {
    self.duration = duration
    self.numberOfCodes = numberOfCodes
  }
}

/// The PIN of the ProteGO Safe contract: six to ten characters of `0-9A-Z`, at least one digit and one letter.
///
/// New PINs have six characters, and more only while so many PINs are valid that one of six could be guessed.
///
/// The health authority gives it to a user with a positive test, who types it into the app.
public struct VerificationCode: Hashable, Sendable, Redacted {
  /// The allowed lengths of a PIN.
  public static let characterCounts = 6...10
  /// The characters of a PIN.
  public static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
  /// The longest typed text that is parsed, in bytes with spaces.
  public static let typedCharactersMax = 64

  /// The characters, in upper case.
  public let characters: String

  /// Parses `text`; ignores spaces and case. Returns nil if the text is not a PIN.
  public init?(_ text: String) {
    guard let characters = Self.characters(typed: text.utf8) else { return nil }
    self.characters = String(decoding: characters, as: UTF8.self)
  }

  /// The characters of typed text in UTF-8, or nil if it is not a PIN. It makes no string, so that a phone
  /// can overwrite the PIN after use.
  public static func characters(typed: some Collection<UInt8>) -> [UInt8]? {
    guard typed.count <= typedCharactersMax else { return nil }
    var typed = typed.filter { !spaces.contains($0) }
    for index in typed.indices { typed[index] = upperCase(typed[index]) }
    guard characterCounts.contains(typed.count), typed.allSatisfy(isDigitOrLetter),
      typed.contains(where: digits.contains), typed.contains(where: letters.contains)
    else { return nil }
    return typed
  }

  private static let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  private static let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
  private static let smallLetters = UInt8(ascii: "a")...UInt8(ascii: "z")

  private static func upperCase(_ byte: UInt8) -> UInt8 {
    smallLetters.contains(byte) ? byte - 0x20 : byte
  }

  private static func isDigitOrLetter(_ byte: UInt8) -> Bool {
    digits.contains(byte) || letters.contains(byte)
  }
}
