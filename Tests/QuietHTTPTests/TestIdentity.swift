// SPDX-License-Identifier: Apache-2.0
import QuietHTTP

/// A certificate for `localhost` that signs itself, valid until 2126, with its key: only tests know them.
enum TestIdentity {
  static func make() throws -> TLSIdentity {
    try TLSIdentity(certificatePEM: certificatePEM, privateKeyPEM: privateKeyPEM)
  }

  private static let privateKeyPEM = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPLjNcmWniqzjhlqZ
    1I2xts4OHNDKN8Hy70ZO2ZN4o4KhRANCAASHf+ZlwtMC3hiAWdqxP5+2u8v+yHCH
    hlZnIrqLx9og4ABffPjp4moh65gci2gFcEfZ9P7Jvsvsimjd2XwHfkZ8
    -----END PRIVATE KEY-----
    """

  private static let certificatePEM = """
    -----BEGIN CERTIFICATE-----
    MIIBfzCCASWgAwIBAgIUK3dX3kSmarlfJ0fHQk7J93FEQnswCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyODExMTYxMFoYDzIxMjYxMTA0
    MTExNjEwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAASHf+ZlwtMC3hiAWdqxP5+2u8v+yHCHhlZnIrqLx9og4ABffPjp4moh
    65gci2gFcEfZ9P7Jvsvsimjd2XwHfkZ8o1MwUTAdBgNVHQ4EFgQUuiotaQRSZKwY
    3tjyxzE17oHrAmcwHwYDVR0jBBgwFoAUuiotaQRSZKwY3tjyxzE17oHrAmcwDwYD
    VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA8Y5pCIQvCsXm8Y7gy+HI
    d5uSGngDvtwtQSHEQovATd8CIEBS5JJ6Li8pEqrgyvyDeS5H3LF3evDI6zbASp3m
    Oxrk
    -----END CERTIFICATE-----
    """
}
