// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import QuietHTTP
import Settings
import Terminal
import World

/// The options of `serve` for sites without a web server in front.
struct TLSOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Listen with TLS too: P for verification, P+1 for keys, P+2 for the console; 0 for free ports.",
      valueName: "port"))
  var tlsPort: Int?

  @Option(help: "The address on which servers listen with TLS, by default 0.0.0.0.")
  var tlsHost: String?

  @Option(
    help: ArgumentHelp(
      "The file with the certificate for TLS and those between it and the root, PEM; read again at SIGHUP.",
      valueName: "file"))
  var tlsCertificate: String?

  @Option(
    help: ArgumentHelp(
      "The file with the private key of the certificate, PEM, mode 600; read again at SIGHUP.",
      valueName: "file"))
  var tlsKey: String?

  /// The address without `--tls-host`: those of all IPv4 networks of the machine.
  private static let defaultHost = "0.0.0.0"
  /// The largest file of certificates, in bytes.
  private static let certificateBytesMax = 256 << 10
  /// The rest of the validity of a certificate below which a line says so, in seconds.
  private static let warningSeconds: TimeInterval = 14 * 86_400

  func validate() throws {
    let given = [tlsPort != nil, tlsCertificate != nil, tlsKey != nil]
    guard Set(given).count == 1 else {
      throw ValidationError("TLS needs --tls-port, --tls-certificate and --tls-key together.")
    }
    guard tlsHost == nil || tlsPort != nil else {
      throw ValidationError("--tls-host has no effect without --tls-port.")
    }
    guard tlsPort.map({ (0...Int(UInt16.max) - 2).contains($0) }) ?? true else {
      throw ValidationError("--tls-port takes 0 to \(UInt16.max - 2).")
    }
  }

  /// The address on which servers listen with TLS.
  var host: String { tlsHost ?? Self.defaultHost }

  /// The certificate and its key, as the files are now; nil without TLS.
  ///
  /// - Throws: `CommandFailure` that names the file and the fault.
  func identity() throws -> TLSIdentity? {
    guard let tlsCertificate, let tlsKey else { return nil }
    let certificate = try InputFile(
      tlsCertificate, what: "certificate", byteCountMax: Self.certificateBytesMax
    ).text
    let key = try PrivateFile(URL(fileURLWithPath: tlsKey)).secret(named: "--tls-key")
    do throws(TLSIdentity.Invalid) {
      return try TLSIdentity(certificatePEM: certificate, privateKeyPEM: key)
    } catch {
      throw CommandFailure.badInput(Self.message(of: error, tlsCertificate, tlsKey))
    }
  }

  private static func message(
    of error: TLSIdentity.Invalid, _ certificate: String, _ key: String
  ) -> String {
    switch error {
    case .certificate:
      "--tls-certificate: \(certificate.printable) has no certificate: name a file in PEM, the server's own"
        + " certificate first."
    case .key:
      "--tls-key: \(key.printable) is no private key in PEM without a passphrase."
    case .mismatch:
      "\(key.printable) is not the key of \(certificate.printable): name both files of one certificate, whose own"
        + " comes first."
    }
  }

  /// A sentence if the certificate is not valid yet, has expired or is going to expire soon.
  func warning(of identity: TLSIdentity, at now: Date) -> String? {
    if identity.validFrom > now, let tlsCertificate {
      let start = UTCTime(unixSecond: identity.validFrom.unixSecond).text
      return
        "The certificate \(tlsCertificate.printable) is not valid before \(start): replace both files, or correct the"
        + " clock, then send SIGHUP."
    }
    let left = identity.expiresAt.timeIntervalSince(now)
    guard left < Self.warningSeconds, let tlsCertificate else { return nil }
    let end = UTCTime(unixSecond: identity.expiresAt.unixSecond).text
    let verb = left < 0 ? "expired" : "expires"
    return
      "The certificate \(tlsCertificate.printable) \(verb) at \(end): replace both files, then send SIGHUP."
  }
}
