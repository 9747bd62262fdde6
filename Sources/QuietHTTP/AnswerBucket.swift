/// The only lengths that an answer of ours has.
///
/// What a listener on the wire sees of an answer is its length; these are so far apart that a token,
/// a refusal and the answer to a decoy have the same one.
public enum AnswerBucket {
  /// In bytes, ascending. Answers longer than the last are a multiple of it.
  public static let bytes = [1 << 10, 4 << 10, 16 << 10, 64 << 10]

  /// The smallest length that holds `count` bytes.
  public static func holding(_ count: Int) -> Int {
    if let bucket = bytes.first(where: { $0 >= count }) { return bucket }
    let largest = bytes[bytes.count - 1]
    return (count + largest - 1) / largest * largest
  }
}
