// SPDX-License-Identifier: Apache-2.0
/// Returns whether two byte sequences are equal, in a time that depends only on their lengths.
///
/// Use it wherever a secret from outside is compared with a stored one: `==` returns at the first
/// difference, and its duration tells a caller how much of a guess was right.
public func isEqualInConstantTime(
  _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
) -> Bool {
  guard left.count == right.count else { return false }
  return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}
