import CExposureKernels

/// A candidate that can be compared.
struct Candidate: Hashable {
  let key: Int
  let interval: UInt32
  let identifier: [UInt8]

  init(key: Int, interval: UInt32, identifier: [UInt8]) {
    self.key = key
    self.interval = interval
    self.identifier = identifier
  }

  init(_ candidate: ek_candidate, shiftedBy done: Int) {
    key = Int(candidate.key_index) + done
    interval = candidate.interval
    identifier = withUnsafeBytes(of: candidate.identifier) { Array($0) }
  }
}
