enum PlaceholderUploadToken {}
