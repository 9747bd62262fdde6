// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A run of `make prove`, which does completely what `make test` samples.
public enum Proof {
  public static let isRunning = ProcessInfo.processInfo.environment["FIREBREAK_PROVE"] == "1"
}
