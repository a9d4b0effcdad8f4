/** Packages of Debian that have a program. */
const ofProgram: Readonly<Record<string, string>> = {
  pandoc: 'pandoc',
  soffice: 'libreoffice',
  libreoffice: 'libreoffice',
  pdftotext: 'poppler-utils',
  pdftoppm: 'poppler-utils',
  pdfimages: 'poppler-utils',
  pdfinfo: 'poppler-utils',
  qpdf: 'qpdf',
  pdftk: 'pdftk-java',
  tesseract: 'tesseract-ocr',
  gs: 'ghostscript',
  convert: 'imagemagick',
  magick: 'imagemagick',
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffmpeg',
  exiftool: 'libimage-exiftool-perl',
  dot: 'graphviz',
  git: 'git',
  gh: 'gh',
  curl: 'curl',
  wget: 'wget',
  jq: 'jq',
  rg: 'ripgrep',
  unzip: 'unzip',
  zip: 'zip',
  node: 'nodejs',
  npm: 'npm',
  npx: 'npm',
  python3: 'python3',
  python: 'python-is-python3',
  pip: 'python3-pip',
  gcc: 'gcc',
  make: 'make',
  sqlite3: 'sqlite3',
  psql: 'postgresql-client',
  chromium: 'chromium',
  latexmk: 'latexmk',
  xelatex: 'texlive-xetex',
  pdflatex: 'texlive-latex-base',
  ruby: 'ruby',
  perl: 'perl',
  php: 'php-cli',
  go: 'golang-go',
  cargo: 'cargo',
  java: 'default-jre',
  bash: 'bash'
}
/** Packages of Debian, and names on PyPI where they differ, of a module of Python. */
const ofModule: Readonly<Record<string, { debian?: string, pypi?: string }>> = {
  PIL: { debian: 'python3-pil', pypi: 'pillow' },
  yaml: { debian: 'python3-yaml', pypi: 'pyyaml' },
  cv2: { debian: 'python3-opencv', pypi: 'opencv-python' },
  lxml: { debian: 'python3-lxml' },
  defusedxml: { debian: 'python3-defusedxml' },
  pypdf: { debian: 'python3-pypdf' },
  PyPDF2: { debian: 'python3-pypdf2', pypi: 'pypdf2' },
  openpyxl: { debian: 'python3-openpyxl' },
  pptx: { debian: 'python3-pptx', pypi: 'python-pptx' },
  docx: { debian: 'python3-docx', pypi: 'python-docx' },
  reportlab: { debian: 'python3-reportlab' },
  numpy: { debian: 'python3-numpy' },
  pandas: { debian: 'python3-pandas' },
  matplotlib: { debian: 'python3-matplotlib' },
  requests: { debian: 'python3-requests' },
  httpx: { debian: 'python3-httpx' },
  bs4: { debian: 'python3-bs4', pypi: 'beautifulsoup4' },
  imageio: { debian: 'python3-imageio' },
  sklearn: { debian: 'python3-sklearn', pypi: 'scikit-learn' },
  scipy: { debian: 'python3-scipy' },
  pytesseract: {},
  playwright: {},
  anthropic: {},
  mcp: {},
  pdfplumber: {},
  pdf2image: {}
}

/** By name. */
export interface Missing {
  programs: readonly string[]
  python: readonly string[]
  node: readonly string[]
}

/** Programs that npm installs. */
const ofNpm = ['pnpm', 'yarn']

/**
 * The commands that install what is missing, as few as possible. Debian lets pip install into virtual environments alone.
 *
 * @param venv the one that the operator gave the skill
 */
export function installCommands (
  { programs, python, node }: Missing, { hasApt, venv }: { hasApt: boolean, venv: string | undefined }
): string[] {
  const packages = [...programs.map(name => ofProgram[name]), ...python.map(name => ofModule[name]?.debian)]
  const debian = hasApt ? packages.filter(name => name !== undefined) : []
  const pypi = python.filter(name => !hasApt || ofModule[name]?.debian === undefined).map(name => ofModule[name]?.pypi ?? name)
  const global = [...programs.filter(name => ofNpm.includes(name)), ...node]
  return [
    ...debian.length === 0 ? [] : [`apt-get install ${[...new Set(debian)].join(' ')}`],
    ...pypi.length === 0 ? [] : [pipCommand(pypi, venv)],
    ...global.length === 0 ? [] : [`npm install -g ${global.join(' ')}`]
  ]
}

function pipCommand (names: readonly string[], venv: string | undefined): string {
  if (venv !== undefined) return `${venv}/bin/pip install ${names.join(' ')}`
  return `python3 -m venv --system-site-packages DIR && DIR/bin/pip install ${names.join(' ')}, and write the absolute path of DIR as "python" in an entry about the skill`
}
