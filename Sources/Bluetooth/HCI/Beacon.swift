// SPDX-License-Identifier: Apache-2.0
import ExposureKeys

/// An advertisement with the address that it is sent from. Both are replaced together.
struct Beacon: Equatable, Sendable {
  let advertisement: Advertisement
  let address: PrivateAddress
}
