import ExposureKeys
import Foundation
import World

/// The times of scans: a scan, a pause of random length, and so on.
public struct ScanSchedule: Hashable, Sendable {
  /// The length of a scan.
  public let scanSeconds: TimeInterval
  /// The length of a pause, in milliseconds; each pause has another random length.
  public let pauseMilliseconds: ClosedRange<Int>

  /// Creates a schedule. A pause of 0 lets the next scan start at once.
  public init(scanSeconds: TimeInterval, pauseMilliseconds: ClosedRange<Int>) {
    self.scanSeconds = scanSeconds
    self.pauseMilliseconds = pauseMilliseconds
  }

  /// A phone's schedule: four seconds every three and a half to five minutes.
  ///
  /// A phone sends a beacon at least every 270 ms, so a scan hears each phone in range several times. The
  /// random pause keeps two phones from missing each other again and again.
  public static let phone = ScanSchedule(scanSeconds: 4, pauseMilliseconds: 206_000...296_000)

  /// Scans of one second without pauses.
  public static let continuous = ScanSchedule(scanSeconds: 1, pauseMilliseconds: 0...0)

  /// Draws the length of a pause.
  func pauseSeconds(_ randomness: some Randomness) -> TimeInterval {
    TimeInterval(randomness.number(in: pauseMilliseconds)) / 1_000
  }
}

/// A change of the radio's state, for logs and tools.
public enum HCIRadioEvent: Sendable {
  /// The controller is set up.
  case ready(ControllerDescription)
  /// The controller failed or could not be opened; it will be opened again after this many seconds.
  case failed(BluetoothError, retrySeconds: TimeInterval)
  /// This advertisement is now sent from this address, which is written as in `0a:1b:2c:3d:4e:5f`.
  case advertising(Advertisement, address: String)
  /// Parts of a scan that were not passed on: malformed reports, and beacons above the limit.
  case discarded(malformedReports: Int, excessBeacons: Int)
  /// Storing takes longer than scanning, and a whole scan was not passed on.
  case scanDiscarded
}

extension HCIRadioEvent: CustomStringConvertible {
  /// A sentence for a log, without identifiers and addresses.
  public var description: String {
    switch self {
    case .ready(let controller):
      "the controller is ready: HCI version \(controller.version), manufacturer \(controller.manufacturer)"
    case .failed(let error, let seconds): "\(error); will try again in \(Int(seconds)) s"
    case .advertising: "sending a new beacon from a new address"
    case .discarded(let malformed, let excess):
      "the scan had \(malformed) malformed reports and \(excess) beacons too many"
    case .scanDiscarded: "a scan was discarded, because earlier scans are still being stored"
    }
  }
}
