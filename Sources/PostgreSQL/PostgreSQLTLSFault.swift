// SPDX-License-Identifier: Apache-2.0

/// A reason why a connection is not made that has to do with TLS, from the message of libpq, which has no codes.
package enum PostgreSQLTLSFault: Hashable, Sendable, CaseIterable {
  /// The server has no TLS.
  case notOffered
  /// The server has no rule for a connection without TLS, or one that rejects it.
  case notUsed
  /// The file of the authorities is missing or cannot be read.
  case noAuthorities
  /// The certificate is of another name.
  case otherName
  /// The certificate is not signed by one of the authorities, or has expired.
  case notTrusted

  /// Finds the fault in a message; nil for one of another kind.
  package init?(in message: String) {
    let found = Self.allCases.first { fault in fault.texts.contains(where: message.contains) }
    guard let found else { return nil }
    // A connection with TLS was refused as well.
    if found == .notUsed, message.contains(", SSL encryption") { return nil }
    self = found
  }

  /// Parts of the messages of libpq 15 and later.
  private var texts: [String] {
    switch self {
    case .notOffered: ["server does not support SSL"]
    case .notUsed: [", no encryption"]
    case .noAuthorities: ["root certificate file", "root.crt"]
    case .otherName: ["does not match host name"]
    case .notTrusted: ["certificate verify failed"]
    }
  }

  /// True if the connection would not be secure; false if the server refuses it.
  package var isInsecure: Bool { self != .notUsed }

  /// The remedy for the operator.
  package var remedy: String {
    switch self {
    case .notOffered:
      "Set ssl=on with a certificate on the server of the database; use sslmode=disable on a trusted network only."
    case .notUsed:
      "Add a line for this host, user and database to pg_hba.conf; if it has one of type hostssl, use"
        + " sslmode=verify-full with sslrootcert in the address of the database."
    case .noAuthorities:
      "Name the file with the authority of the server's certificate as sslrootcert in the address of the database,"
        + " readable by the user of this process."
    case .otherName:
      "Use a name of the certificate as the host in the address of the database, or give the server a certificate for"
        + " the host."
    case .notTrusted:
      "Check the validity of the server's certificate, and that sslrootcert in the address of the database has the"
        + " authority that signed it."
    }
  }
}
