// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Testing

@testable import KeyServer

@Suite("Stored keys of an authority")
struct AuthorityKeyRuleTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation

  private func key(
    _ id: String, _ pem: String, until end: Date? = nil, isPulled: Bool = false,
    withdrawnAt: Date? = nil
  ) -> AuthorityKey {
    AuthorityKey(
      keyID: id, publicKeyPEM: pem, goodFrom: Date(timeIntervalSince1970: 0), goodUntil: end,
      isPulled: isPulled, withdrawnAt: withdrawnAt)
  }

  @Test("A withdrawn key is not added again, also if its PEM was stored with other line ends")
  func otherForm() {
    let stored = key("v1", pem.replacing("\n", with: "\r\n") + "\n", withdrawnAt: now)
    #expect(AuthorityKeyRule.adding(["v2": pem], isPulled: false, to: [stored]) == [stored])
    #expect(AuthorityKeyRule.adding(["v2": pem], isPulled: true, to: [stored]) == [stored])
    let other = P256.Signing.PrivateKey().publicKey.pemRepresentation
    #expect(AuthorityKeyRule.adding(["v2": other], isPulled: true, to: [stored]).count == 2)
  }

  @Test("A key that left its page ends at once, also if an earlier version gave it a later end")
  func laterEnd() {
    let stored = key("v1", pem, until: now.addingTimeInterval(30 * 86_400), isPulled: true)
    #expect(AuthorityKeyRule.pulling([:], into: [stored], at: now, othersEnd: now).isEmpty)
    let byHand = key("v2", pem)
    #expect(AuthorityKeyRule.pulling([:], into: [byHand], at: now, othersEnd: now) == [byHand])
  }

  @Test("Pulled keys do not outlive the address of their page")
  func withoutPage() {
    let page = URL(string: "https://clinic.example/jwks")
    let stored = HealthAuthority(
      issuer: "clinic", audience: "keys", publicKeysPEM: [:], jwksURL: page)
    let changed = HealthAuthority(issuer: "clinic", audience: "keys", publicKeysPEM: [:])
    let known = [key("v1", pem, isPulled: true), key("v2", pem)]
    #expect(AuthorityKeyRule.keeping(known, of: stored, changedTo: stored) == known)
    #expect(
      AuthorityKeyRule.keeping(known, of: stored, changedTo: changed).map(\.keyID) == ["v2"])
  }
}
