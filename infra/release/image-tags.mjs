/** Files that name the image of this version: where it is built, and where it is started. */
export const filesWithImageTags = [
  'docs/OPERATIONS.md',
  'infra/deploy/Dockerfile',
  'infra/deploy/compose.yaml',
  'infra/deploy/kubernetes/api.yaml',
  'infra/deploy/kubernetes/ingest.yaml',
  'infra/deploy/kubernetes/kustomization.yaml',
  'infra/deploy/kubernetes/processors.yaml',
  'infra/deploy/kubernetes/stream-gateway.yaml',
];

const TAG = /(?<=\boddstream:|\bname: oddstream, newTag: |--build-arg VERSION=)\d+\.\d+\.\d+(-[\w.]*\w)?/g;

/** Versions of the product's image that a text names. */
export const imageTags = (text) => text.match(TAG) ?? [];

/** The text with the new version in all of them. Throws when there is none. */
export function withImageTag(text, version) {
  if (imageTags(text).length === 0) throw new Error('no tag of the image to change');
  return text.replace(TAG, version);
}
