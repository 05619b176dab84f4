// The bundled worker as text, which build.mjs makes.

declare module "worker:*" {
  const script: string;
  export default script;
}
