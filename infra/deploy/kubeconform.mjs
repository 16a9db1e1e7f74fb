// Validates the manifests of infra/deploy/kubernetes strictly with kubeconform: `npm run kubeconform`. Needs Go, Python with pip, and their registries of
// packages only: the schemas are those of a Python package, which has them under kubeconform's names.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0';
const SCHEMAS = 'kubernetes-validate==1.37.0';
const KUBERNETES = 'v1.37.0';

const dir = mkdtempSync(join(tmpdir(), 'oddstream-kubeconform-'));
const python = (...args) => execFileSync('python3', ['-m', ...args], { cwd: dir, stdio: 'inherit' });
try {
  python('pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:', '--dest', dir, SCHEMAS);
  python('zipfile', '--extract', join(dir, `${SCHEMAS.replace('-', '_').replace('==', '-')}-py3-none-any.whl`), dir);
  const schemas = join(dir, 'kubernetes_validate/kubernetes-json-schema', `${KUBERNETES}-local-strict`);
  // Their addresses are those of a server.
  for (const file of readdirSync(schemas).map((name) => join(schemas, name)))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"/api/', `"file://${schemas}/`));
  const options = ['-strict', '-summary', '-verbose'];
  options.push('-schema-location', `${schemas}/{{ .ResourceKind }}{{ .KindSuffix }}.json`);
  // Kustomize's own file, which the API does not know.
  options.push('-ignore-filename-pattern', 'kustomization\\.yaml$');
  const manifests = join(import.meta.dirname, 'kubernetes');
  process.exitCode = spawnSync('go', ['run', PROGRAM, ...options, manifests], { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
