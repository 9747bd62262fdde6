// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A picture, sound or film of a notification.
open class UNNotificationAttachment: NSObject, NSCopying {
  /// The app's identifier of the attachment.
  open private(set) var identifier: String
  /// The file. Apple's system moves it into a store of its own; here it stays where the app has it.
  open private(set) var url: URL
  /// The uniform type identifier of the file.
  open private(set) var type: String

  /// An attachment of the file at `url`. An empty identifier is replaced with a new one; the options may state the type
  /// under `UNNotificationAttachmentOptionsTypeHintKey`.
  ///
  /// - Throws: `UNError`: `.attachmentInvalidURL` if `url` is not that of a readable file,
  ///   `.attachmentUnrecognizedType`, or `.attachmentInvalidFileSize` above the limit of its kind.
  public init(identifier: String, url URL: URL, options: [AnyHashable: Any]? = nil) throws {
    guard URL.isFileURL, let size = Self.fileSize(at: URL.path) else {
      throw UNError(.attachmentInvalidURL)
    }
    let hint = options?[UNNotificationAttachmentOptionsTypeHintKey] as? String
    guard let format = hint.map(AttachmentFormat.init(type:)) ?? AttachmentFormat(of: URL) else {
      throw UNError(.attachmentUnrecognizedType)
    }
    guard size <= format.kind.byteCountMax else { throw UNError(.attachmentInvalidFileSize) }
    self.identifier = identifier.isEmpty ? UUID().uuidString : identifier
    self.url = URL
    type = format.type
  }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationAttachment else { return false }
    return identifier == other.identifier && url == other.url && type == other.type
  }

  open override var hash: Int { identifier.hashValue }

  private static func fileSize(at path: String) -> Int? {
    // A file that cannot be examined is not attached; the caller reports it.
    guard FileManager.default.isReadableFile(atPath: path),
      let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      attributes[.type] as? FileAttributeType == .typeRegular
    else { return nil }
    return attributes[.size] as? Int
  }
}

/// The option with the uniform type identifier of the file.
public let UNNotificationAttachmentOptionsTypeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"
/// The option that hides the thumbnail.
public let UNNotificationAttachmentOptionsThumbnailHiddenKey =
  "UNNotificationAttachmentOptionsThumbnailHiddenKey"
/// The option with the part of a picture that is its thumbnail.
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey =
  "UNNotificationAttachmentOptionsThumbnailClippingRectKey"
/// The option with the frame of a film that is its thumbnail.
public let UNNotificationAttachmentOptionsThumbnailTimeKey =
  "UNNotificationAttachmentOptionsThumbnailTimeKey"

/// A file format of attachments; the list and the limits are Apple's.
struct AttachmentFormat {
  enum Kind {
    case audio
    case image
    case movie

    var byteCountMax: Int {
      switch self {
      case .audio: 5_000_000
      case .image: 10_000_000
      case .movie: 50_000_000
      }
    }
  }

  let type: String
  let kind: Kind
  private let extensions: Set<String>

  private init(_ type: String, _ kind: Kind, _ extensions: Set<String>) {
    (self.type, self.kind, self.extensions) = (type, kind, extensions)
  }

  /// The format with a uniform type identifier; nil if attachments cannot have it.
  init?(type: String) {
    guard let format = Self.all.first(where: { $0.type == type }) else { return nil }
    self = format
  }

  /// The format that the extension of a file names; nil if it names none.
  init?(of url: URL) {
    let name = url.pathExtension.lowercased()
    guard let format = Self.all.first(where: { $0.extensions.contains(name) }) else { return nil }
    self = format
  }

  private static let all = [
    AttachmentFormat("public.aiff-audio", .audio, ["aif", "aiff"]),
    AttachmentFormat("com.microsoft.waveform-audio", .audio, ["wav"]),
    AttachmentFormat("public.mp3", .audio, ["mp3"]),
    AttachmentFormat("public.mpeg-4-audio", .audio, ["m4a"]),
    AttachmentFormat("com.apple.m4a-audio", .audio, []),
    AttachmentFormat("public.jpeg", .image, ["jpg", "jpeg"]),
    AttachmentFormat("com.compuserve.gif", .image, ["gif"]),
    AttachmentFormat("public.png", .image, ["png"]),
    AttachmentFormat("public.mpeg", .movie, ["mpg", "mpeg"]),
    AttachmentFormat("public.mpeg-2-video", .movie, ["m2v"]),
    AttachmentFormat("public.mpeg-4", .movie, ["mp4", "m4v"]),
    AttachmentFormat("public.avi", .movie, ["avi"]),
  ]
}
