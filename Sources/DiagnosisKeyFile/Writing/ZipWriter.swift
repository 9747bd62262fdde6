/// A zip of one or two entries, written as a stream; the same content gives the same bytes.
///
/// By hand, because an entry's pieces are deflated side by side, which libarchive does not:
/// Documentation/Decisions/0011-our-own-zips.md.
struct ZipWriter {
  private let file: AppendedFile
  private let threads: Int
  private let streams = DeflateStreams()
  private var entries: [ZipEntryRecord] = []

  /// Begins a zip in an open, empty file, which stays open. It is deflated on `threads` threads
  /// (`DeflateLimit.threads`, brought inside), the caller's included.
  init(_ descriptor: Int32, threads: Int = DeflateThreads.available) {
    file = AppendedFile(descriptor)
    self.threads = threads
  }

  /// Writes an entry with what `fill` appends to it.
  ///
  /// When this returns or throws, no other thread is at work on it.
  mutating func add<Result>(
    _ part: ExportPart, _ fill: (DeflatedEntry) throws -> Result
  ) throws -> Result {
    var record = ZipEntryRecord(part: part, offset: file.byteCount)
    try record.header.withRawBytes(file.append)
    let begin = file.byteCount
    let crew = DeflateCrew(threads: threads, streams.deflate)
    defer { crew.abandon() }
    let entry = DeflatedEntry(in: file, byteCountMax: part.byteCountMax, deflatedBy: crew)
    let result = try fill(entry)
    try entry.finish()
    record.check = entry.check
    record.deflatedByteCount = file.byteCount - begin
    try record.descriptor.withRawBytes(file.append)
    entries.append(record)
    return result
  }

  /// Writes the list of entries, and its end: APPNOTE.TXT 4.3.16.
  func finish() throws(KeyFileError) {
    let list = entries.flatMap(\.listed)
    let disks: UInt32 = 0
    let count = UInt16(entries.count).littleEndianBytes
    let comment: UInt16 = 0
    let end =
      ZipDirectory.end + disks.littleEndianBytes + count + count
      + UInt32(list.count).littleEndianBytes + UInt32(file.byteCount).littleEndianBytes
      + comment.littleEndianBytes
    try (list + end).withRawBytes(file.append)
  }
}
