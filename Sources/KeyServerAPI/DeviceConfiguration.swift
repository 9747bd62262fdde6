// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import World

/// The keys and instructions that a health authority gives all phones, signed by its root key.
///
/// A phone that knows the root key trusts the keys in the newest document that it has accepted. The format is
/// described in Documentation/DeviceConfiguration.md. Times are Unix seconds.
public struct DeviceConfiguration: Codable, Hashable, Sendable {
  /// The version, 1 or more, which increases with every document. A phone rejects a lower one.
  public var version: Int
  /// The time of the signature.
  public var issued: Int64
  /// The end of the time in which phones accept the document. An accepted one stays in use.
  public var expires: Int64
  /// The keys that sign key files and remote configurations.
  public var keys: [Key]
  /// The instruction to pause; nil if phones must work.
  public var pause: Pause?
  /// The key files to ignore; exposures that phones found through them are undone.
  public var withdrawn: [KeyFileHash]
  /// The times of the withdrawals, in the order of `withdrawn`. If it is shorter than `withdrawn`, the remaining
  /// files were withdrawn by this document.
  public var withdrawnSince: [Int64]?

  /// Creates a document.
  public init(
    version: Int, issued: Int64, expires: Int64, keys: [Key], pause: Pause? = nil,
    withdrawn: [KeyFileHash] = []
  ) {
    self.version = version
    self.issued = issued
    self.expires = expires
    self.keys = keys
    self.pause = pause
    self.withdrawn = withdrawn
  }

  /// A public key with its period of validity.
  public struct Key: Codable, Hashable, Sendable {
    /// The key ID in signatures, usually the mobile country code: `260`.
    public let keyID: String
    /// The key version in signatures: `v1`.
    public let keyVersion: String
    /// The public key in PEM (P-256, SubjectPublicKeyInfo).
    public let publicKey: String
    /// The start of its validity; nil for none.
    public var validFrom: Int64?
    /// The end of its validity, exclusive; nil for none.
    public var validThru: Int64?

    /// Creates a key.
    public init(
      keyID: String, keyVersion: String, publicKey: String, validFrom: Int64? = nil,
      validThru: Int64? = nil
    ) {
      self.keyID = keyID
      self.keyVersion = keyVersion
      self.publicKey = publicKey
      self.validFrom = validFrom
      self.validThru = validThru
    }

    /// Returns `true` if signatures by the key count at `moment`.
    public func isValid(at moment: Date) -> Bool {
      let seconds = moment.timeIntervalSince1970
      return validFrom.map { Double($0) <= seconds } ?? true
        && validThru.map { seconds < Double($0) } ?? true
    }
  }

  /// The instruction to neither check nor upload.
  public struct Pause: Codable, Hashable, Sendable {
    /// The end of the pause; nil for a pause until a document without one.
    public let until: Int64?

    /// Creates a pause.
    public init(until: Int64?) {
      self.until = until
    }
  }
}

extension DeviceConfiguration {
  /// The keys that are valid at `moment`.
  public func keys(validAt moment: Date) -> [Key] { keys.filter { $0.isValid(at: moment) } }

  /// Returns `true` if phones must neither check nor upload at `moment`.
  public func isPaused(at moment: Date) -> Bool {
    guard let pause else { return false }
    return pause.until.map { moment.timeIntervalSince1970 < Double($0) } ?? true
  }

  /// Returns `true` if a phone that does not have the document must reject it at `moment`.
  public func isExpired(at moment: Date) -> Bool {
    moment.timeIntervalSince1970 >= Double(expires)
  }

  /// The document that follows this one, with the next version, other keys and a new expiry. Withdrawn files
  /// that phones do not need any more are left out.
  ///
  /// - Parameters:
  ///   - keys: The keys of the next document.
  ///   - moment: The time at which it is issued.
  ///   - lifetimeSeconds: The time until the expiry; nil for that of this document.
  public func next(
    keys: [Key], issued moment: Date, lifetimeSeconds: Int64? = nil
  ) -> DeviceConfiguration {
    let seconds = moment.unixSecond
    let since = withdrawnSince ?? []
    let files = withdrawn.enumerated().map { index, file in
      (file: file, since: index < since.count ? since[index] : issued)
    }.filter { seconds - $0.since < DeviceConfigurationLimit.withdrawnSeconds }
    var next = DeviceConfiguration(
      version: version + 1, issued: seconds, expires: seconds + (lifetimeSeconds ?? lifetime),
      keys: keys, pause: pause, withdrawn: files.map(\.file))
    next.withdrawnSince = files.isEmpty ? nil : files.map(\.since)
    return next
  }

  /// Withdraws a file, unless it is withdrawn already.
  public mutating func withdraw(_ file: KeyFileHash) {
    if !withdrawn.contains(file) { withdrawn.append(file) }
  }

  /// Ends the withdrawal of a file.
  public mutating func restore(_ file: KeyFileHash) {
    guard let index = withdrawn.firstIndex(of: file) else { return }
    withdrawn.remove(at: index)
    if let since = withdrawnSince, index < since.count { withdrawnSince?.remove(at: index) }
  }

  private var lifetime: Int64 {
    issued < expires ? expires - issued : DeviceConfigurationLimit.lifetime
  }

  /// The first document of an authority.
  public static func first(
    keys: [Key], issued moment: Date, lifetimeSeconds: Int64? = nil
  ) -> DeviceConfiguration {
    DeviceConfiguration(version: 0, issued: 0, expires: 0, keys: [])
      .next(keys: keys, issued: moment, lifetimeSeconds: lifetimeSeconds)
  }

  /// A sentence that names the first field with an invalid value, or nil.
  public var fault: String? {
    if version < 1 { return "version must be 1 or more." }
    if expires <= issued { return "expires must be after issued." }
    let counts = DeviceConfigurationLimit.keyCount
    guard counts.contains(keys.count) else {
      return "keys must hold \(counts.lowerBound) to \(counts.upperBound) keys."
    }
    guard Set(keys.map { [$0.keyID, $0.keyVersion] }).count == keys.count else {
      return "keys must not name a keyID and keyVersion twice."
    }
    guard withdrawn.count <= DeviceConfigurationLimit.withdrawnMax else {
      return "withdrawn must hold at most \(DeviceConfigurationLimit.withdrawnMax) hashes."
    }
    guard withdrawnSince?.count ?? 0 <= withdrawn.count else {
      return "withdrawnSince must not hold more times than withdrawn has hashes."
    }
    return keys.enumerated().lazy.compactMap { index, key in
      key.fault.map { "keys[\(index)].\($0)" }
    }.first
  }
}

extension DeviceConfiguration.Key {
  fileprivate var fault: String? {
    let names = DeviceConfigurationLimit.nameBytes
    if !names.contains(keyID.utf8.count) { return "keyID must have 1 to 255 bytes." }
    if !names.contains(keyVersion.utf8.count) { return "keyVersion must have 1 to 255 bytes." }
    if let validFrom, let validThru, validFrom > validThru {
      return "validFrom must not be after validThru."
    }
    do {
      _ = try P256.Signing.PublicKey(pemRepresentation: publicKey)
      return nil
    } catch {
      return "publicKey must be a P-256 public key in PEM."
    }
  }
}

/// The limits and defaults of device configurations.
public enum DeviceConfigurationLimit {
  /// The maximum size of the signed document that a phone reads, in bytes.
  public static let bytesMax = 64 * 1024
  /// The number of keys, as many as a key file may have signatures.
  public static let keyCount = 1...10
  /// The maximum number of withdrawn files, many times that of two weeks of files.
  public static let withdrawnMax = 400
  /// The time in seconds after which a withdrawn file is left out: the 14 days for which files are listed and
  /// phones want them, and a day of tolerance.
  public static let withdrawnSeconds: Int64 = 15 * 86_400
  /// The length of a key ID or version.
  static let nameBytes = 1...255
  /// The default time in seconds in which phones accept a document: 90 days.
  public static let lifetime: Int64 = 90 * 86_400
  /// The accepted lifetimes in seconds: a day to two years.
  public static let lifetimes: ClosedRange<Int64> = 86_400...63_072_000
  /// The default time in seconds between the publication of a new key and its first signature. Phones fetch
  /// the document several times a day.
  public static let leadSeconds: Int64 = 86_400
}
