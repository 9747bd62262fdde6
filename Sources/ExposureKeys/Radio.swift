// SPDX-License-Identifier: Apache-2.0

/// The part of a phone's Bluetooth that exposure notification needs.
///
/// The operating system, the hardware or a simulation implements it. The radio decides when it scans.
/// After each scan, also one that received nothing, it passes on the scan and waits until it is stored.
/// Documentation/Framework.md has a complete implementation.
public protocol Radio: Sendable {
  /// True if the radio is on.
  var isPoweredOn: Bool { get async }

  /// Sends `advertisement` instead of the previous one, from a new random address. Address and identifier
  /// must change together (Bluetooth Specification 1.2.2, "Privacy").
  func advertise(_ advertisement: Advertisement) async

  /// Stops sending.
  func stopAdvertising() async

  /// Passes each scan, also an empty one, to `receive` instead of the previous receiver.
  func listen(_ receive: @escaping ScanReceiver) async

  /// Stops scanning.
  func stopListening() async
}

/// Stores a scan of the radio. On return it is on the disk.
///
/// The function runs on the caller's actor. A radio names this type instead of writing the function type,
/// because a package without `NonisolatedNonsendingByDefault` would have to write
/// `nonisolated(nonsending) @Sendable (Scan) async -> Void` for it.
public typealias ScanReceiver = @Sendable (Scan) async -> Void
