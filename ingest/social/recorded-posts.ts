import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { FatalError } from '../../infra/errors.js';
import { type MappedPage, mapPage } from '../../infra/social/platform/map-posts.js';
import { pageResponse } from '../../infra/social/platform/response.js';

/** A recorded page of the platform's API v2 and when it was fetched. */
const recordedPage = pageResponse.extend({ fetched_at: z.iso.datetime() });

/**
 * Reads the pages of `<recordedDir>/social/*.json`, in the order of their names. Empty if there is no such directory. Throws FatalError for a file that is
 * no recorded page.
 */
export async function readRecordedPosts(recordedDir: string): Promise<readonly MappedPage[]> {
  const directory = join(recordedDir, 'social');
  let names: string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return [];
    throw error;
  }
  const pages: MappedPage[] = [];
  for (const name of names.filter((one) => one.endsWith('.json')).sort()) {
    const path = join(directory, name);
    let content: unknown;
    try {
      content = JSON.parse(await readFile(path, 'utf8'));
    } catch (error) {
      throw new FatalError(`${path} is not JSON. Restore the recording.`, { cause: error });
    }
    const page = recordedPage.safeParse(content);
    if (!page.success) throw new FatalError(`${path} is not a recorded page of posts. Restore the recording.`);
    pages.push(mapPage(page.data, Date.parse(page.data.fetched_at)));
  }
  return pages;
}
